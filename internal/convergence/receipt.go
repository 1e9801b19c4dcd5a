package convergence

import "slices"

// CodeInvalidReceipt is the code of every rejected engine receipt.
const CodeInvalidReceipt = "INVALID_ENGINE_RECEIPT"

// receipt accepts or rejects the record of one engine call. A rejection changes
// nothing but the list of rejections.
func (f *fold) receipt(version int, p value) {
	id, position := p.get("nodeId").text(), p.get("position").text()
	sequence, _ := p.get("sequence").safeInteger()
	n, st, ok := f.node(id)
	if reason := refuseReceipt(version, n, st, ok, position, sequence); reason != "" {
		f.reject(id, position, sequence, reason)
		return
	}
	got := readReceipt(p, sequence)
	st.Receipt = &got
	f.setNode(n, st)
	if n.role == RoleGenerator || n.role == RoleRepair {
		f.exclude(n.lane, got)
	}
}

func (f *fold) reject(id, position string, sequence int64, reason string) {
	f.s.EngineReceiptRejections = f.s.EngineReceiptRejections.With(Rejection{
		Code: CodeInvalidReceipt, NodeID: id, Position: position, Sequence: sequence, Reason: reason,
	})
}

func readReceipt(p value, sequence int64) Receipt {
	effective := p.get("effective")
	return Receipt{Sequence: sequence, Provider: effective.get("provider").text(), ModelFamily: effective.get("modelFamily").text()}
}

func refuseReceipt(version int, n *node, st NodeState, known bool, position string, sequence int64) string {
	switch {
	case version != 1:
		return "unsupported-version"
	case !known || n.lane == nil:
		return "no-engine-lane"
	case st.Status != StatusInFlight:
		return "not-in-flight"
	case st.InFlight != position:
		return "position-mismatch"
	case sequence != st.lastSequence()+1:
		return "sequence-mismatch"
	}
	return ""
}

func (st NodeState) lastSequence() int64 {
	if st.Receipt == nil {
		return 0
	}
	return st.Receipt.Sequence
}

// exclude grows the exclusion sets by a writer's call. What the call did not
// report counts as everything the lane declares, field by field.
func (f *fold) exclude(lane *Lane, got Receipt) {
	providers, families := []string{got.Provider}, []string{got.ModelFamily}
	if got.Provider == "" {
		providers = providers[:0]
		for _, t := range lane.targets() {
			providers = append(providers, t.Provider)
		}
	}
	if got.ModelFamily == "" {
		families = families[:0]
		for _, t := range lane.targets() {
			families = append(families, t.ModelFamily)
		}
	}
	f.s.WriterProviders = union(f.s.WriterProviders, providers)
	f.s.WriterModelFamilies = union(f.s.WriterModelFamilies, families)
}

// union appends what is new. It copies before it appends, because older states
// share the array.
func union(set, more []string) []string {
	for _, item := range more {
		if !slices.Contains(set, item) {
			set = append(set[:len(set):len(set)], item)
		}
	}
	return set
}
