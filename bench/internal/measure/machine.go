package measure

import (
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
)

// Machine says where figures were measured. Figures of two machines do not
// compare; ratios do, roughly.
type Machine struct {
	CPU    string
	Cores  int
	Memory string
	System string // distribution and kernel
	Go     string
	Load   string // processes that wanted a core, averaged over the minute before
}

// ThisMachine describes the machine, with "unknown" for what it does not tell.
func ThisMachine() Machine {
	return Machine{
		CPU:    field("/proc/cpuinfo", "model name", ":"),
		Cores:  runtime.NumCPU(),
		Memory: memory(),
		System: strings.Trim(field("/etc/os-release", "PRETTY_NAME", "="), `"`) + ", kernel " + kernel(),
		Go:     runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH,
		Load:   loadAverage(),
	}
}

// memory is in GiB; the kernel tells it in kB of 1024 bytes.
func memory() string {
	text := field("/proc/meminfo", "MemTotal", ":")
	kb, err := strconv.ParseFloat(strings.TrimSuffix(text, " kB"), 64)
	if err != nil {
		return text
	}
	return strconv.FormatFloat(kb/(1<<20), 'f', 1, 64) + " GiB"
}

// kernel is the version without what its builder added.
func kernel() string {
	version, _, _ := strings.Cut(firstWord("/proc/sys/kernel/osrelease"), "-")
	return version
}

func loadAverage() string { return firstWord("/proc/loadavg") }

func firstWord(file string) string {
	b, err := os.ReadFile(file)
	if words := strings.Fields(string(b)); err == nil && len(words) > 0 {
		return words[0]
	}
	return "unknown"
}

// field returns the value of the first line of a file that reads name, sep,
// value.
func field(file, name, sep string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(b)) {
		if key, value, ok := strings.Cut(line, sep); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

// Module is a dependency and its version.
type Module struct{ Path, Version string }

// Modules returns the versions of the named modules in this program.
func Modules(paths []string) []Module {
	var out []Module
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	for _, path := range paths {
		for _, dep := range info.Deps {
			if dep.Path == path {
				out = append(out, Module{path, dep.Version})
			}
		}
	}
	return out
}
