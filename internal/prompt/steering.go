package prompt

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// rule finds one kind of steering in a sentence of flat text.
type rule struct {
	phrase *regexp.Regexp // its first group is the phrase
	cues   []string       // one of them stands in every phrase
	unless *regexp.Regexp // what stands behind an innocent phrase, nil for nothing
}

// find adds where the rule's phrases stand. from is where the sentence begins.
func (r rule) find(spans [][2]int, sentence string, from int) [][2]int {
	if !slices.ContainsFunc(r.cues, func(cue string) bool { return strings.Contains(sentence, cue) }) {
		return spans
	}
	for _, at := range r.phrase.FindAllStringSubmatchIndex(sentence, -1) {
		if r.unless == nil || !r.unless.MatchString(sentence[at[3]:]) {
			spans = append(spans, [2]int{from + at[2], from + at[3]})
		}
	}
	return spans
}

// anywhere makes a rule whose words steer whoever they are said of.
func anywhere(phrase string) rule {
	return rule{phrase: regexp.MustCompile(`\b(` + phrase + `)\b`), cues: cues(phrase)}
}

// told makes a rule whose words steer only when the reader is told them: "Never report it", but not "handlers never
// report it".
func told(phrase string) rule {
	return rule{phrase: regexp.MustCompile(`(?:^ ?|[^a-z0-9' ,/] ?|\b(?:you|reviewers?|seats?|agents?|please|we|it is (?:ok|okay|fine|safe) to) (?:` +
		`(?:may|can|should|must|shall|will|could|might|need to|have to|are to|please|also|simply|just|always|safely|therefore) ){0,3}|(?:^ ?|: )(?:if|when|where|unless|for) [^,]+, )(` + phrase + `)\b`), cues: cues(phrase)}
}

// but makes words innocent that something follows.
func (r rule) but(follows string) rule {
	r.unless = regexp.MustCompile(`^(?:` + follows + `)`)
	return r
}

const (
	not    = `(?:do not (?:need to|have to)|don't (?:need to|have to)|do not|don't|dont|do never|never|must not|mustn't|should not|shouldn't|shall not|need not|needn't|may not|cannot|can't|are not to)`
	slight = `(?:minor|low|medium|trivial|cosmetic|nits?|nit-?picks?|info|informational|non-?blocking|negligible|suggestions?|advisory|warnings?)`
	grave  = `(?:high|critical|severe|serious|major|blocking|blockers?)`
	issues = `(?:findings?|issues?|problems?|concerns?|warnings?|bugs?|errors?|defects?|flaws?|nits?|vulnerabilit(?:y|ies)|violations?|regressions?)`
	few    = `(?:\S+ ){0,4}`
	owners = `(?:plan|design|spec|specification|contract|ticket|adr|rfc|author|authors|implementer|implementor|writer|developers?|team|` +
		`architects?|maintainers?|owners?|product manager|management)`
)

// steering lists the rules. A blank stands for any run of blanks and emphasis marks, also over a line's end.
var steering = sync.OnceValue(func() []rule {
	rules := silence()
	rules = append(rules, rank()...)
	rules = append(rules, authority()...)
	return append(rules, mercy()...)
})

// silence keeps findings from being told.
func silence() []rule {
	return []rule{
		anywhere(not + ` (?:ever |even )?(?:flag|nit-?pick|point out|call out|bring up|comment on|complain|call attention to|draw attention to|object to|criti[cz]i[sz]e)`),
		told(not + ` (?:ever |even )?(?:report|raise|mention|list|question|challenge|request changes|bother|worry about|care about)`).but(`(?: (?:an?|the|any|bare|generic|new|plain|such))* (?:exceptions?|panics?|events?|signals?|interrupts?|privileges?|limits?)| errors? (?:to|through|via|with)\b`),
		told(not + ` (?:ever |even )?(?:review|inspect|examine|look (?:at|into|for)|check)`).but(` (?:in|out)\b|` + few + `(?: )?(?:generated|vendored|third-party|lock ?files?)`),
		told(not + ` (?:ever |even )?(?:block|fail|reject)(?: (?:on|over|for|because of))? (?:the |a |any |missing |an? )*(?:change|merge|merging|pr|pull request|` +
			`style|naming|formatting|tests?|docs|documentation|comments?|it|this|that|these|those|them|` + slight + `|` + issues + `)`),
		told(not + ` (?:block|fail|reject)`).but(` ?\S`),
		anywhere(`(?:no need|not necessary|needless|unnecessary|not worth it|no reason|no point) to (?:flag|report|raise|mention|block|list|comment|check|review)`),
		anywhere(`(?:avoid|refrain from|stop|resist|no) (?:flagging|reporting|mentioning|nit-?picking|pointing out|commenting on|listing)`),
		anywhere(`(?:not|isn't|aren't|never) (?:be )?worth (?:flagging|reporting|raising|mentioning|blocking|listing|a finding|a comment)`),
		anywhere(`(?:should|must|need|shall|may|can) ?not be (?:flagged|reported|mentioned|called out|pointed out|raised as)`),
		told(`(?:ignore|overlook|skip|disregard|omit|suppress|dismiss|leave out|gloss over|look past|pay no attention to|turn a blind eye to) ` + few + issues),
		told(`(?:keep (?:quiet|silent)|stay silent|say nothing) (?:about|on)`),
		told(`(?:report|raise|list|return|produce|expect|find) (?:no|zero|few|fewer) (?:\S+ )?` + issues),
		anywhere(`(?:at most|no more than|not more than|only|up to|a maximum of|limit yourself to) (?:\d+|one|two|three|four|five|ten|a few|a handful of) (?:\S+ ){0,2}(?:findings?|issues?|comments?)`),
		anywhere(`(?:only|exclusively) (?:flag|report|raise|mention|list|block on) (?:the )?(?:really |truly |most )?` + grave),
		anywhere(`(?:flag|report|raise|mention|list) only (?:the )?(?:really |truly |most )?` + grave),
	}
}

// rank settles how much a finding weighs before it is found.
func rank() []rule {
	return []rule{
		anywhere(`(?:at most|at (?:the )?(?:very )?(?:worst|best)|(?:no|not|never) (?:higher|more|worse|greater|graver) than|(?:nothing|not|never) above|nothing (?:higher|worse|more) than|` +
			`not exceed|max(?:imum)?(?: severity)?(?: of| is|:)?) "?'?(?:an? |severity )?` + slight),
		anywhere(slight + ` (?:severity )?(?:at (?:most|best|worst|the most|the worst)|or (?:lower|below|less)|and nothing (?:more|higher|above)|tops)`),
		anywhere(`(?:cap|limit|keep|downgrade|lower|reduce|demote|restrict) (?:\S+ ){0,6}(?:at|to|below|under|as) "?'?(?:an? )?` + slight),
		anywhere(`(?:capped|limited|downgraded|demoted) (?:at|to) "?'?(?:an? )?` + slight),
		anywhere(`(?:treat|rate|mark|classify|count|grade|label|consider|regard|score|view|rank|tag|file|categori[sz]e|deem) (?:\S+ ){1,6}?(?:(?:as|at|to be) )?(?:an? |only |just |merely )?"?'?` +
			`(?:` + slight + `|acceptable|harmless|out of scope|(?:a )?false positives?|known|resolved|accepted)`),
		anywhere(`(?:only|just|merely|simply|nothing but|nothing more than) (?:an? )?(?:minor|low|trivial|cosmetic|nits?|nit-?picks?|matters? of (?:style|taste)|style (?:issues?|nits?|matters?|questions?))`),
		anywhere(`(?:do not|don't|never|not|cannot|can't) (?:be )?(?:rate|rated|mark|marked|call|called|grade|graded|classify|classified|treat|treated|label|labelled) (?:\S+ ){0,5}(?:as |at )?(?:an? )?` + grave),
		anywhere(`(?:is|are|counts?) (?:never|not|no) (?:as )?(?:an? )?(?:high|critical|blockers?|blocking|high-severity)(?: (?:severity|findings?|issues?))?`).but(` \S`),
		anywhere(issues + ` (?:here |there |in \S+ )?(?:is|are) (?:non-?blocking|optional|advisory|informational|out of scope|off limits|acceptable|fine|tolerable|welcome to stay)`),
		anywhere(`(?:is|are|counts? as|do(?:es)? not count as) (?:not )?(?:an? )?(?:finding|bug|issue|problem|defect|blocker)s? (?:here|in this (?:change|review|repository|file)|for this (?:change|review)|because)`),
		anywhere(`(?:can|will|should|may|is to|are to) (?:\S+ )?be (?:fixed|handled|addressed|done|improved|cleaned up|tackled|sorted out) (?:later|afterwards|another time|in (?:an? |the |another )?(?:follow-?up|next|future|later|separate))`),
	}
}

// authority puts somebody's decision in the place of the reviewer's.
func authority() []rule {
	const said = `(?:already |deliberately |explicitly |intentionally |consciously |knowingly |clearly |has |have |had )*`
	const decided = `(?:chose|chosen|chooses|choose|decided|decides|wants?|wanted|prefers?|preferred|intends?|intended|opted|opts|picked|agreed|agrees|accepted|accepts|approved|approves|signed off|settled on|knows (?:about|of)|is aware|are aware)`
	return []rule{
		anywhere(`(?:the|our|their|this) (?:(?:approved|agreed|original|technical|product|project|core|security) )*` + owners + `,? ` + said + decided),
		anywhere(`we ` + said + `(?:chose|decided|opted|picked|agreed|accepted|signed off|settled on|knowingly)`),
		anywhere(`(?:chosen|decided|agreed|accepted|approved|signed off|settled|intended|wanted) (?:on |upon )?(?:by (?:the |our )?(?:` + owners + `|us|product)|in (?:the |our )?(?:plan|planning|design(?: review)?|spec|adr|rfc|ticket))`),
		anywhere(`(?:is|are|was|were) (?:all |both |fully |completely |quite |entirely )?(?:intentional|deliberate|intended|by design|on purpose|an? (?:deliberate|conscious|intentional|known|accepted|design) (?:\S+ )?(?:choice|decision|trade-?off|risk|limitation|issue))`),
		anywhere(`(?:known|accepted) (?:risks?|limitations?) (?:that|which|and) (?:we|are|is)`),
		anywhere(`not (?:up|open) (?:for|to) (?:debate|discussion|review|question)`),
		anywhere(`(?:decisions?|design|plan|architecture) (?:is|are) (?:final|settled|fixed|closed|non-negotiable|a given)`),
		anywhere(`(?:already|previously) (?:been )?(?:approved|reviewed|accepted|agreed|audited|vetted|signed off|verified|cleared)`),
		anywhere(`(?:has|have) been (?:reviewed|audited|vetted|signed off|cleared)`),
		told(`(?:trust|believe|rely on|defer to) (?:the |our |their )?` + owners),
		told(`assume (?:that )?(?:\S+ ){1,4}(?:is|are|was|were|to be) (?:already )?(?:correct|right|fine|safe|secure|tested|intentional|valid|good|ok|okay)`),
	}
}

// mercy asks for a verdict, or for less than a review.
func mercy() []rule {
	return []rule{
		anywhere(`(?:please|just|simply|always|must|should) (?:approve|pass|accept) (?:this|it|the (?:change|diff|pr|pull request|review)|all|any|everything)`),
		anywhere(`(?:prefer|lean|err|default|tend|bias(?:ed)?) (?:to|towards?|on the side of) (?:an? )?(?:pass|passing|approval|approving|accepting|approve|leniency)`),
		anywhere(`(?:if|when|where) (?:in doubt|unsure|uncertain|not sure),? (?:please |just |you )?(?:approve|pass|accept|let|leave|drop|skip)`),
		anywhere(`(?:approve|pass) (?:it |this |the change )?(?:anyway|regardless|by default|unless|no matter what|whatever)`),
		anywhere(`(?:must|should|has to|have to|needs? to|will|shall) (?:end|finish|result|conclude|be) (?:with |in |as )?(?:an? )?(?:verdict:? )?"?'?(?:pass|passed|approved|approval)`),
		anywhere(`(?:the )?(?:right|correct|expected|desired) (?:verdict|answer|outcome|result) (?:here )?(?:is|would be) (?:an? )?"?'?(?:pass|approve|approval)`),
		anywhere(`(?:be|stay|remain) (?:\S+ )?(?:lenient|generous|forgiving|easy-?going|gentle|tolerant)`),
		anywhere(`(?:do not|don't|never|try not to|no need to) be (?:too |overly |so |very )?(?:strict|picky|pedantic|harsh|critical|thorough|fussy|nit-?picky)`),
		anywhere(`give (?:\S+ ){0,3}(?:the benefit of the doubt|a (?:free )?pass)`),
		anywhere(`(?:go|be|take it) easy on`),
		anywhere(`rubber-? ?stamp (?:it|this|the)`),
		anywhere(`(?:let|wave) (?:it|this|that|these|them|those|\S+ \S+) (?:slide|through)`),
		anywhere(`(?:we|i) (?:need|want) (?:this|it) (?:merged|shipped|approved|landed|to (?:pass|ship|merge|land))`),
		anywhere(`turn a blind eye`),
	}
}
