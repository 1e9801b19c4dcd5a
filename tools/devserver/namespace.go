package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	persistencespb "go.temporal.io/server/api/persistence/v1"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/metrics"
	"go.temporal.io/server/common/persistence"
	"go.temporal.io/server/common/persistence/serialization"
	"go.temporal.io/server/common/persistence/sql"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	"go.temporal.io/server/common/resolver"
	"go.temporal.io/server/common/searchattribute/sadefs"
	sqliteschema "go.temporal.io/server/schema/sqlite"
	"google.golang.org/protobuf/types/known/durationpb"
)

const clusterName = "active"

type attributeTypes = map[string]enumspb.IndexedValueType

// prepareNamespace makes sure that the namespace exists with its search attributes and retention before the server starts, also in a file that an
// earlier run created without them. Done through the API of the running server instead, it would be seen only after each service's next cache
// refresh, up to seconds after readiness.
func (s *store) prepareNamespace(ctx context.Context, name string, attributes attributeTypes, retention time.Duration) error {
	aliases, err := mergeAliases(nil, attributes)
	if err != nil {
		return err
	}
	ns, err := sqliteschema.NewNamespaceConfig(clusterName, name, false, nil)
	if err != nil {
		return fmt.Errorf("namespace %q: %w", name, err)
	}
	ns.Detail.Config.CustomSearchAttributeAliases = aliases
	ns.Detail.Config.Retention = durationpb.New(retention)
	if err := sqliteschema.CreateNamespaces(s.sql, ns); err != nil { // does nothing when it exists
		return err
	}
	return s.updateNamespace(ctx, name, attributes, retention)
}

// updateNamespace brings an existing namespace to the wanted attributes and retention; it never removes an attribute.
func (s *store) updateNamespace(ctx context.Context, name string, attributes attributeTypes, retention time.Duration) error {
	db, err := sql.NewSQLDB(sqlplugin.DbKindUnknown, s.sql, resolver.NewNoopResolver(), log.NewNoopLogger(), metrics.NoopMetricsHandler)
	if err != nil {
		return fmt.Errorf("namespace %q: %w", name, err)
	}
	defer db.Close()
	rows, err := db.SelectFromNamespace(ctx, sqlplugin.NamespaceFilter{Name: &name})
	if err != nil || len(rows) != 1 {
		return fmt.Errorf("namespace %q: %d rows: %w", name, len(rows), err)
	}
	row, codec := rows[0], serialization.NewSerializer()
	detail, err := codec.NamespaceDetailFromBlob(persistence.NewDataBlob(row.Data, row.DataEncoding))
	if err != nil {
		return fmt.Errorf("namespace %q: %w", name, err)
	}
	changed, err := adjust(detail.GetConfig(), attributes, retention)
	if err != nil || !changed {
		return err
	}
	blob, err := codec.NamespaceDetailToBlob(detail)
	if err != nil {
		return fmt.Errorf("namespace %q: %w", name, err)
	}
	row.Data, row.DataEncoding = blob.GetData(), blob.GetEncodingType().String()
	if _, err := db.UpdateNamespace(ctx, &row); err != nil {
		return fmt.Errorf("namespace %q: %w", name, err)
	}
	return nil
}

// adjust changes c to the wanted state and says whether there was anything to change.
func adjust(c *persistencespb.NamespaceConfig, attributes attributeTypes, retention time.Duration) (bool, error) {
	aliases, err := mergeAliases(c.GetCustomSearchAttributeAliases(), attributes)
	if err != nil {
		return false, err
	}
	if maps.Equal(aliases, c.GetCustomSearchAttributeAliases()) && c.GetRetention().AsDuration() == retention {
		return false, nil
	}
	c.CustomSearchAttributeAliases, c.Retention = aliases, durationpb.New(retention)
	return true, nil
}

// mergeAliases assigns each wanted attribute that has none yet a free column of its type. Columns map to names; SQL visibility has ten columns for
// keywords and three of each other type.
func mergeAliases(existing map[string]string, wanted attributeTypes) (map[string]string, error) {
	columns := sadefs.GetDBIndexSearchAttributes(nil).CustomSearchAttributes
	merged := maps.Clone(existing)
	if merged == nil {
		merged = map[string]string{}
	}
	columnOf := map[string]string{}
	for column, name := range existing {
		columnOf[name] = column
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		kind := wanted[name]
		if sadefs.IsReserved(name) {
			return nil, coded(exitUsage, "search attribute %s: the name is reserved by the server", name)
		}
		if column, ok := columnOf[name]; ok {
			if columns[column] != kind {
				return nil, coded(exitUsage, "search attribute %s is %s in this database and cannot become %s: choose another name or another --db-filename", name, columns[column], kind)
			}
			continue
		}
		column, count := freeColumn(columns, merged, kind)
		if column == "" {
			return nil, coded(exitUsage, "search attribute %s: the database has only %d of type %s, and all are taken", name, count, kind)
		}
		merged[column] = name
	}
	return merged, nil
}

// freeColumn returns the first column of the kind that has no alias, and how many columns of the kind there are.
func freeColumn(columns attributeTypes, taken map[string]string, kind enumspb.IndexedValueType) (string, int) {
	count, free := 0, ""
	for _, column := range slices.Sorted(maps.Keys(columns)) {
		if columns[column] != kind {
			continue
		}
		count++
		if _, used := taken[column]; !used && free == "" {
			free = column
		}
	}
	return free, count
}
