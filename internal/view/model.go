package view

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// model is the live part as bubbletea runs it.
type model struct {
	size  *size
	theme theme
	last  Update
	// ticks counts turns of the spinner since last; turn is the spinner's own.
	ticks, turn int
	began       bool
	over        bool
}

type (
	tick     struct{}
	finished struct{}
)

func next() tea.Cmd {
	return tea.Tick(tickEvery, func(time.Time) tea.Msg { return tick{} })
}

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return next() }

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.size.width.Store(int64(msg.Width))
		m.size.height.Store(int64(msg.Height))
	case Update:
		m.last, m.ticks, m.began = msg, 0, true
	case tick:
		m.ticks++
		m.turn++
		return m, next()
	case finished:
		m.over = true
	}
	return m, nil
}

// View implements tea.Model. The cursor stays visible, before the last line:
// then a killed process leaves nothing to repair, and what the terminal echoes
// ("^C") falls on blanks.
func (m *model) View() tea.View {
	view := tea.NewView(m.content())
	view.DisableBracketedPasteMode = true
	view.Cursor = tea.NewCursor(0, max(lines(view.Content)-1, 0))
	return view
}

func (m *model) content() string {
	if m.over || !m.began {
		return ""
	}
	now := m.last.Now.Add(time.Duration(m.ticks) * tickEvery)
	s := screen{theme: m.theme, width: int(m.size.width.Load()), height: int(m.size.height.Load())}
	return s.frame(m.last, now, m.turn)
}

func lines(content string) int {
	count := 1
	for _, r := range content {
		if r == '\n' {
			count++
		}
	}
	return count
}
