package e2e

// object is any JSON object.
type object = map[string]any

// step is one entry of a scriptagent script; tools/scriptagent/script.go says what the fields mean.
type step struct {
	As       string            `json:"as,omitempty"`
	Role     string            `json:"role,omitempty"`
	Round    string            `json:"round,omitempty"`
	Seat     string            `json:"seat,omitempty"`
	Lens     string            `json:"lens,omitempty"`
	Finding  string            `json:"finding,omitempty"`
	Contains string            `json:"contains,omitempty"`
	Times    int               `json:"times,omitempty"`
	Write    map[string]string `json:"write,omitempty"`
	Delete   []string          `json:"delete,omitempty"`
	Shell    string            `json:"shell,omitempty"`
	Say      string            `json:"say,omitempty"`
	Review   object            `json:"review,omitzero"`
	Recheck  map[string]string `json:"recheck,omitzero"`
	Confirm  *bool             `json:"confirm,omitempty"`
	Rulings  map[string]string `json:"arbitrate,omitzero"`
	Fix      object            `json:"fix,omitzero"`
	Reason   string            `json:"reason,omitempty"`
	Model    string            `json:"model,omitempty"`
	Stderr   string            `json:"stderr,omitempty"`
	Exit     int               `json:"exit,omitempty"`
	Silent   bool              `json:"silent,omitempty"`
	SleepMS  int               `json:"sleep_ms,omitempty"`
	Hang     bool              `json:"hang,omitempty"`
}

const (
	flawed   = "package calc\n\n// Sum adds the first n numbers.\nfunc Sum(n int) int {\n\ts := 0\n\tfor i := 0; i < n; i++ {\n\t\ts += i\n\t}\n\treturn s\n}\n"
	mended   = "package calc\n\n// Sum adds the first n numbers.\nfunc Sum(n int) int {\n\ts := 0\n\tfor i := 1; i <= n; i++ {\n\t\ts += i\n\t}\n\treturn s\n}\n"
	objected = "Sum stops before n: the loop is off by one."
)

// twoIterations is a flawed draft that both seats block, a repair that answers
// their words, and two passes.
func twoIterations() []step {
	return []step{
		{Role: "implement", Write: map[string]string{"calc.go": flawed}, Say: "Sum is there."},
		{Role: "repair", Contains: objected, Write: map[string]string{"calc.go": mended}, Say: "Sum includes n now."},
		{Role: "review", Round: "0", As: "codex", SleepMS: 700, Say: objected + "\n\nVERDICT: BLOCK"},
		{Role: "review", Round: "0", As: "claude", SleepMS: 700, Say: "Claude agrees: " + objected + "\n\nVERDICT: BLOCK"},
		{Role: "review", SleepMS: 700, Say: "Nothing left to object to.\n\nVERDICT: PASS"},
	}
}
