package fakemodel

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
)

// call is a call of a tool in the words of one protocol.
type call struct {
	id     string
	name   string
	input  json.RawMessage
	custom bool
}

// calls translates a step into calls of the tools that the program behind a protocol has.
// request makes their ids unique: a session that goes on holds those of earlier turns.
func (c conversation) calls(s Step, request int) []call {
	var out []call
	add := func(name string, input any, custom bool) {
		raw, _ := json.Marshal(input)
		out = append(out, call{id: fmt.Sprintf("call%d_%s%d_%d", request, stepMark, c.step, len(out)), name: name, input: raw, custom: custom})
	}
	tools := toolNames[c.api]
	for _, f := range s.Write {
		where, content := c.place(f.Path), c.fill(f.Content)
		if f.Existing && tools.readFirst {
			add(tools.read, object{tools.path: where}, false)
		}
		if c.api == Responses {
			add("apply_patch", addPatch(where, content), true)
			continue
		}
		add(tools.write, object{tools.path: where, "content": content}, false)
	}
	for _, e := range s.Edit {
		where, before, after := c.place(e.Path), c.fill(e.Old), c.fill(e.New)
		if tools.readFirst {
			add(tools.read, object{tools.path: where}, false)
		}
		if c.api == Responses {
			add("apply_patch", editPatch(where, before, after), true)
			continue
		}
		input := object{tools.path: where, tools.before: before, tools.after: after}
		if c.api == Gemini {
			input["instruction"] = "Replace the lines."
		}
		add(tools.edit, input, false)
	}
	if s.Read != "" {
		if c.api == Responses {
			add(tools.shell, object{tools.command: "tail -c 300 '" + c.place(s.Read) + "'"}, false)
		} else {
			add(tools.read, object{tools.path: c.place(s.Read)}, false)
		}
	}
	if s.Shell != "" {
		input := object{tools.command: c.fill(s.Shell)}
		if c.api != Responses {
			input["description"] = "Run it"
		}
		add(tools.shell, input, false)
	}
	for _, one := range s.Calls {
		if one.API == "" || one.API == c.api {
			add(one.Name, json.RawMessage(c.fill(string(one.Input))), one.Custom)
		}
	}
	return out
}

// names are those of a program's tools and of their inputs.
type names struct {
	read, write, edit, shell     string
	path, before, after, command string
	readFirst                    bool // it refuses to change an existing file that was not read
}

var toolNames = map[API]names{
	Anthropic: {"Read", "Write", "Edit", "Bash", "file_path", "old_string", "new_string", "command", true},
	Responses: {shell: "exec_command", command: "cmd"},
	Chat:      {"read", "write", "edit", "bash", "filePath", "oldString", "newString", "command", true},
	Gemini:    {"read_file", "write_file", "replace", "run_shell_command", "file_path", "old_string", "new_string", "command", false},
}

// place is a path in the workspace.
func (c conversation) place(name string) string {
	if name = c.fill(name); path.IsAbs(name) || c.workspace == "" {
		return name
	}
	return path.Join(c.workspace, name)
}

// addPatch is codex's patch for a new file, or one that takes the place of another.
func addPatch(where, content string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*** Begin Patch\n*** Add File: %s\n", where)
	for line := range strings.Lines(content) {
		b.WriteString("+" + line)
	}
	return ended(&b)
}

// editPatch is codex's patch that replaces whole lines.
func editPatch(where, before, after string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*** Begin Patch\n*** Update File: %s\n@@\n", where)
	for line := range strings.Lines(before) {
		b.WriteString("-" + strings.TrimSuffix(line, "\n") + "\n")
	}
	for line := range strings.Lines(after) {
		b.WriteString("+" + strings.TrimSuffix(line, "\n") + "\n")
	}
	return ended(&b)
}

func ended(b *strings.Builder) string {
	text := b.String()
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + "*** End Patch\n"
}
