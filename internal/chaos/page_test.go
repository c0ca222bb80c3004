package chaos

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// page is docs/reliability.md.
func page(f form, machine string, at time.Time, outcomes []*outcome) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Reliability

<!-- Made by make chaos; changes to this file are lost. -->

What is done to Redis under load, what must hold meanwhile, and what was measured. `+"`make chaos`"+` runs it again and writes
this page; `+"`make test`"+` has a short form of every row.

Measured on %s, on %s, in the %s form. Load: open loop, %d requests a second unless the row says otherwise, seed %d, half of it for %d
tenants who ask for many times their limit of %d/s burst %d, the other half for tenants who never reach theirs. The deadline B of a check is %v unless the row says otherwise; where
the table says B+5 ms, this form holds B+%v. Latencies are the server's own
(`+"`weir_check_duration_seconds`"+`), as the bound of the bucket they fall into. Extra is what the worst tenant was given beyond
burst + rate x T, in bursts. Each row also holds that at least %.0f%% of the load was sent in time and answered, that no client
went without an answer of the server's, that the fault was felt, and that the server counted exactly the degraded
answers that clients got. A row that fails while the machine holds up a timer that has nothing else to do for longer than a
check's deadline, or for longer than its latencies bear, is tried again, five times at most; the table says so. Here %s.
`, at.UTC().Format("2006-01-02"), machine, f.name, f.rate, f.seed, tightTenants, tightRate, tightBurst, deadline, f.slack, 100*attained, again(outcomes))
	fault := ""
	for _, o := range outcomes {
		if o.fault != fault {
			fault = o.fault
			fmt.Fprintf(&b, "\n## %s\n\nMust hold: %s.\n\n", strings.ToUpper(fault[:1])+fault[1:], o.bounds)
			b.WriteString("| row | | load | client errors | degraded (reasons) | p50 | p99 | extra | |\n|---|---|---|---|---|---|---|---|---|\n")
		}
		b.WriteString(o.cells() + "\n")
		if o.after != "" {
			b.WriteString("\n" + o.after)
		}
	}
	return b.String()
}

// reportFile is where the report goes; "" for nowhere. Figures of the short form
// are not for readers: it takes a flag to have them written.
func reportFile(f form, file string, short bool) (string, error) {
	if file != "" && f.name != longForm.name && !short {
		return "", fmt.Errorf("WEIR_CHAOS_REPORT is set in the %s form: run make chaos, or say -report-short", f.name)
	}
	return file, nil
}

// machine is what the figures depend on, without a name.
func machine() string {
	model := "an unknown processor"
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	return fmt.Sprintf("%d cores of %s, %s/%s, %s", runtime.NumCPU(), model, runtime.GOOS, runtime.GOARCH, runtime.Version())
}
