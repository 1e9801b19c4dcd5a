package review

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnchorsOfOneLine(t *testing.T) {
	for line, want := range map[string]string{
		"\t\tout.Close()":                     "out.Close()",
		"20: out.Close()":                     "out.Close()",
		"20 | out.Close();":                   "out.Close()",
		"20| out.Close()":                     "out.Close()",
		"+\tout.Close()":                      "out.Close()",
		"> `out.Close()`":                     "out.Close()",
		"out.Close() // flushes":              "out.Close()",
		"total = a +  b  # sum":               "total=a+b",
		"url := \"http://host/x\"":            "url:=\"http://host/x\"",
		"// only a comment":                   "//only a comment",
		"return  err":                         "return err",
		"for i := 0; i < n; i++ {":            "for i:=0;i<n;i++{",
		"x\u00a0:= 1\r":                       "x:=1",
		"":                                    "",
		" \t ":                                "",
		"---":                                 "",
		"\xffname := 1":                       "\uFFFDname:=1",
		"if (a   &&   b) { return c ; }":      "if(a&&b){return c;}",
		"def add(item, items=[]):  # mutable": "def add(item,items=[]):",
	} {
		require.Equal(t, want, Anchor(line), "%q", line)
	}
}

func TestALineInAnotherNameIsNotAnyLine(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"out.Close()", "dst.Close()", true},
		{"s.index[key]=value", "st.index[k]=value", true},
		{"w.Copy(dst)", "r.Read(buf)", false},
		{"a=b+b", "a=c+d", false},
		{"a=b+c", "a=d+d", false},
		{"out.Close()", "out.Close()", false},
		{"out.Close()", "out.Close", false},
		{"a+b", "a-b", false},
		{"", "", false},
	} {
		require.Equal(t, c.want, renamed(c.a, c.b), "%q %q", c.a, c.b)
		require.Equal(t, c.want, renamed(c.b, c.a), "%q %q", c.b, c.a)
	}
}

func TestACommonLineTellsNoPlace(t *testing.T) {
	for _, line := range []string{"", "}", "return err", "if err!=nil{", "out.Close()", "else:", "pass"} {
		require.False(t, telling(line), line)
	}
	for _, line := range []string{"s.index[key]=value", "return total/len(values)", "resp,err:=http.Get(url)"} {
		require.True(t, telling(line), line)
	}
}
