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

// toolbox collects the calls of one message.
type toolbox struct {
	conversation
	request int
	out     []call
}

func (b *toolbox) add(name string, input any, custom bool) {
	raw, _ := json.Marshal(input)
	id := fmt.Sprintf("call%d_%s%d_%d", b.request, stepMark, b.step, len(b.out))
	b.out = append(b.out, call{id: id, name: name, input: raw, custom: custom})
}

// calls translates a step into calls of the tools that the program behind a protocol has.
// request makes their ids unique: a session that goes on holds those of earlier turns.
func (c conversation) calls(s Step, request int) []call {
	b := &toolbox{conversation: c, request: request}
	for _, f := range s.Write {
		b.write(f)
	}
	for _, e := range s.Edit {
		b.edit(e)
	}
	if s.Read != "" {
		b.read(s.Read)
	}
	if s.Shell != "" {
		b.shell(s.Shell)
	}
	for _, one := range s.Calls {
		if one.API == "" || one.API == c.api {
			b.add(one.Name, json.RawMessage(c.fill(string(one.Input))), one.Custom)
		}
	}
	return b.out
}

func (b *toolbox) write(f File) {
	tools, where, content := toolNames[b.api], b.place(f.Path), b.fill(f.Content)
	if f.Existing && tools.readFirst {
		b.add(tools.read, object{tools.path: where}, false)
	}
	if b.api == Responses {
		b.add("apply_patch", addPatch(where, content), true)
		return
	}
	b.add(tools.write, object{tools.path: where, "content": content}, false)
}

func (b *toolbox) edit(e Edit) {
	tools, where, before, after := toolNames[b.api], b.place(e.Path), b.fill(e.Old), b.fill(e.New)
	if tools.readFirst {
		b.add(tools.read, object{tools.path: where}, false)
	}
	if b.api == Responses {
		b.add("apply_patch", editPatch(where, before, after), true)
		return
	}
	input := object{tools.path: where, tools.before: before, tools.after: after}
	if b.api == Gemini {
		input["instruction"] = "Replace the lines."
	}
	b.add(tools.edit, input, false)
}

func (b *toolbox) read(name string) {
	tools, where := toolNames[b.api], b.place(name)
	if b.api == Responses {
		b.add(tools.shell, object{tools.command: "tail -c 300 '" + where + "'"}, false)
		return
	}
	b.add(tools.read, object{tools.path: where}, false)
}

func (b *toolbox) shell(line string) {
	tools := toolNames[b.api]
	input := object{tools.command: b.fill(line)}
	if b.api != Responses {
		input["description"] = "Run it"
	}
	b.add(tools.shell, input, false)
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
