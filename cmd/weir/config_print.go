package main

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newConfig groups what is about the configuration. serve is a serve command of
// its own, whose flags the commands below take over, and peer what it finds besides.
func newConfig(sys system, serve *cobra.Command, peer *peerSettings) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Look at the configuration",
		Args:  aCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newConfigPrint(sys, serve, peer))
	return cmd
}

func newConfigPrint(sys system, serve *cobra.Command, peer *peerSettings) *cobra.Command {
	var sources bool
	var output string
	cmd := &cobra.Command{
		Use:   "print",
		Short: "Print what weir serve would run with",
		Long: `Print takes the flags of weir serve, the variables and the file that --settings
names, and prints what weir serve would run with. A flag wins over a variable, a
variable over the file. Variables of envoyproxy/ratelimit that are set and have no
flag are listed after the others, with --sources also those without effect.

With -o yaml it prints a file for --settings. Secrets are not printed.`,
		Example: `  weir config print --sources
  WEIR_REDIS=127.0.0.1:6379 weir config print --settings weir.yaml --sources
  weir config print -o yaml > weir.yaml`,
		Args: noArgs(""),
		RunE: func(*cobra.Command, []string) error {
			if err := checkOutput(output, formatYAML); err != nil {
				return err
			}
			if err := prepareServe(serve); err != nil {
				return err
			}
			p := printed{
				flags: listSettings(serve.Flags()), secrets: listSecrets(sys.lookupEnv),
				peer: listPeer(peer, serve.Flags(), sys.lookupEnv), sources: sources,
			}
			return p.write(sys.out, output)
		},
	}
	cmd.Flags().BoolVar(&sources, "sources", false, "say where each value comes from")
	fromEnv(cmd.Flags(), "sources", "WEIR_CONFIG_PRINT_SOURCES")
	addOutput(cmd, &output, formatYAML)
	cmd.Flags().AddFlagSet(serve.Flags())
	return cmd
}

// prepareServe does what weir serve does between reading its flags and serving:
// its PreRunE, or else the file of settings.
func prepareServe(serve *cobra.Command) error {
	set := map[string]bool{}
	serve.Flags().VisitAll(func(f *pflag.Flag) { set[f.Name] = f.Changed })
	if serve.PreRunE == nil {
		return applySettings(serve, serve.Flags().Lookup(settingsFlag).Value.String())
	}
	if err := serve.PreRunE(serve, nil); err != nil {
		return err
	}
	// What it set and no file is noted for, it took from variables that have
	// other names than ours.
	serve.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Changed && !set[f.Name] && f.Annotations[sourceAnnotation] == nil {
			noteSource(f, "variables of envoyproxy/ratelimit")
		}
	})
	return nil
}

// setting is a flag and its value.
type setting struct {
	Name     string `json:"name"`
	Value    any    `json:"value"` // a text, or a list of texts
	Source   string `json:"source,omitempty"`
	Variable string `json:"variable"`
	Hidden   bool   `json:"hidden,omitempty"` // a part of the value is not shown
}

// listSettings lists the flags that have a variable: all but help.
func listSettings(flags *pflag.FlagSet) []setting {
	var out []setting
	flags.VisitAll(func(f *pflag.Flag) {
		variable := f.Annotations[envAnnotation]
		if len(variable) == 0 {
			return
		}
		s := setting{Name: f.Name, Source: sourceOf(f), Variable: variable[0]}
		if list, many := f.Value.(pflag.SliceValue); many {
			texts := slices.Clone(list.GetSlice())
			for i := range texts {
				texts[i], s.Hidden = redact(texts[i], s.Hidden)
			}
			if texts == nil {
				texts = []string{}
			}
			s.Value = texts
		} else {
			s.Value, s.Hidden = redact(f.Value.String(), false)
		}
		out = append(out, s)
	})
	return out
}

// redact takes from a value what may be a password: in an address it stands
// before an '@'. weir serve refuses such an address; here it is not repeated.
func redact(text string, hidden bool) (string, bool) {
	parts := strings.Split(text, ",")
	for i, part := range parts {
		at := strings.LastIndexByte(part, '@')
		if at < 0 {
			continue
		}
		scheme, _, ok := strings.Cut(part[:at], "://")
		if scheme += "://"; !ok {
			scheme = ""
		}
		parts[i], hidden = scheme+"***"+part[at:], true
	}
	return strings.Join(parts, ","), hidden
}

// secret is a variable that has no flag.
type secret struct {
	Variable string `json:"variable"`
	Set      bool   `json:"set"`
	// File is the file that holds the secret, for a variable that names one.
	File string `json:"file,omitempty"`
}

func listSecrets(lookup func(string) (string, bool)) []secret {
	var out []secret
	for _, n := range []secretNames{redisSecrets, sentinelSecrets} {
		for _, name := range []string{n.user, n.password, n.file} {
			value, _ := lookup(name)
			s := secret{Variable: name, Set: value != ""}
			if name == n.file {
				s.File = value
			}
			out = append(out, s)
		}
	}
	return out
}

// printed is what is to be printed.
type printed struct {
	flags   []setting
	secrets []secret
	peer    []peerVariable
	sources bool
}

func (p *printed) write(w io.Writer, format string) error {
	switch format {
	case formatJSON:
		if !p.sources {
			for i := range p.flags {
				p.flags[i].Source = ""
			}
		}
		return writeJSON(w, struct {
			Settings  []setting      `json:"settings"`
			Secrets   []secret       `json:"secrets"`
			Variables []peerVariable `json:"variables"`
		}{p.flags, p.secrets, p.peer})
	case formatYAML:
		return p.yaml(w)
	}
	return p.table(w)
}
