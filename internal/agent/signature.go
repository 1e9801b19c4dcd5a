package agent

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"conclave/internal/record"
)

// signature is one row of a failure table: a pattern in an error channel, and the class that it means.
type signature struct {
	pattern *regexp.Regexp
	class   Class
}

// sign builds a row; patterns ignore case.
func sign(class Class, pattern string) signature {
	return signature{regexp.MustCompile(`(?i)` + pattern), class}
}

// match finds the first row that fits. The text must come from an error channel.
func match(table []signature, text string, now time.Time) (failure, bool) {
	if text == "" {
		return failure{}, false
	}
	for _, s := range table {
		if s.pattern.MatchString(text) {
			f := failure{class: s.class, text: text}
			if s.class == record.ClassQuota || s.class == record.ClassTransient {
				f.retryAfter = resetIn(text, now)
			}
			return f, true
		}
	}
	return failure{}, false
}

// networkSignatures mean trouble on the way, whichever program says it.
var networkSignatures = []signature{
	sign(record.ClassTransient, `ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EPIPE|connection (refused|reset|failed|error|closed)|network (error|is unreachable)|socket hang up|getaddrinfo|could not resolve|error sending request|stream disconnected|tls handshake|timed? ?out waiting`),
}

var (
	epochPattern    = regexp.MustCompile(`\|\s*(1[6-9]\d{8}|[2-4]\d{9})\b`)
	durationPattern = regexp.MustCompile(`(?i)(?:try again|retry|retry after|resets?|available) in\s+((?:\d+(?:\.\d+)?\s*(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)\b[\s,]*(?:and\s+)?)+)`)
	partPattern     = regexp.MustCompile(`(?i)(\d+(?:\.\d+)?)\s*(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)\b`)
	datePattern     = regexp.MustCompile(`(?i)(?:try again|resets?|available)(?: again)?(?: at| on)?\s+([A-Z][a-z]{2,8})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})[,\s]+(?:at\s+)?(\d{1,2}):(\d{2})\s*([AP]M)?`)
	clockPattern    = regexp.MustCompile(`(?i)(?:try again|resets?|available)(?: again)?(?: at)?\s+(\d{1,2})(?::(\d{2}))?\s*([ap]m)(?:\s*\(([A-Za-z_]+(?:/[A-Za-z_+\-0-9]+)*)\))?`)
)

// resetIn reads from a limit message how long the limit still holds; 0 when it does not say.
func resetIn(text string, now time.Time) time.Duration {
	if m := epochPattern.FindStringSubmatch(text); m != nil {
		at, _ := strconv.ParseInt(m[1], 10, 64)
		return positive(time.Unix(at, 0).Sub(now))
	}
	if m := durationPattern.FindStringSubmatch(text); m != nil {
		return sumDuration(m[1])
	}
	if m := datePattern.FindStringSubmatch(text); m != nil {
		return positive(date(m, now).Sub(now))
	}
	if m := clockPattern.FindStringSubmatch(text); m != nil {
		return positive(clock(m, now).Sub(now))
	}
	return 0
}

func positive(d time.Duration) time.Duration { return max(d, 0) }

func sumDuration(text string) time.Duration {
	var total time.Duration
	for _, m := range partPattern.FindAllStringSubmatch(text, -1) {
		n, err := strconv.ParseFloat(m[1], 64)
		if err != nil || n > 1e5 { // nobody waits that long, and it would not fit
			continue
		}
		total += time.Duration(n * float64(unit(strings.ToLower(m[2]))))
	}
	return total
}

func unit(word string) time.Duration {
	switch {
	case strings.HasPrefix(word, "ms"), strings.HasPrefix(word, "milli"):
		return time.Millisecond
	case word[0] == 's':
		return time.Second
	case word[0] == 'm':
		return time.Minute
	case word[0] == 'h':
		return time.Hour
	}
	return 24 * time.Hour
}

// date reads "May 18th, 2033 3:33 AM" in local time, which is what the programs print.
func date(m []string, now time.Time) time.Time {
	layout := "Jan 2 2006 15:04"
	text := m[1][:3] + " " + m[2] + " " + m[3] + " " + m[4] + ":" + m[5]
	if m[6] != "" {
		layout, text = "Jan 2 2006 3:04 PM", text+" "+strings.ToUpper(m[6])
	}
	at, err := time.ParseInLocation(layout, text, now.Location())
	if err != nil {
		return now
	}
	return at
}

// lag is how long ago a time of the clock may have passed and still be today's: the programs leave out seconds, and are
// heard a little after they spoke.
const lag = time.Hour

// clock reads "3pm (Europe/Paris)": the next time that the clock shows it. One that has just passed is no time of
// tomorrow: it is over at the end of its minute.
func clock(m []string, now time.Time) time.Time {
	zone := now.Location()
	if m[4] != "" {
		if z, err := time.LoadLocation(m[4]); err == nil {
			zone = z
		}
	}
	hour, _ := strconv.Atoi(m[1])
	minute, _ := strconv.Atoi(m[2])
	if hour > 12 || minute > 59 {
		return now
	}
	hour %= 12
	if strings.EqualFold(m[3], "pm") {
		hour += 12
	}
	local := now.In(zone)
	at := time.Date(local.Year(), local.Month(), local.Day(), hour, minute, 0, 0, zone)
	switch since := now.Sub(at); {
	case since > lag:
		at = at.AddDate(0, 0, 1)
	case since < lag-24*time.Hour: // a minute of yesterday, heard after midnight
		at = at.AddDate(0, 0, -1)
	}
	if at.After(now) {
		return at
	}
	if at = at.Add(time.Minute); at.After(now) {
		return at
	}
	return now.Add(time.Second)
}
