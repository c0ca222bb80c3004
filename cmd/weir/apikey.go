package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
)

// keyPrefix begins every key that is made here, so that who finds one in a log
// or a repository knows what it is, and scanners can look for it.
const keyPrefix = "weir_"

const (
	keyRandom   = 32  // bytes: nobody guesses, so one hash is enough to keep a key by
	maxKeyBytes = 512 // what the server takes
)

func newAPIKey(sys system) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "apikey",
		Short: "Make API keys, and the entries of the file that knows them",
		Args:  aCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newAPIKeyNew(sys), newAPIKeyDigest(sys))
	return cmd
}

// keyEntry is an entry of a file of keys, as internal/identityfile reads it.
type keyEntry struct {
	ID     string `yaml:"id"`
	SHA256 string `yaml:"sha256"`
	Tenant string `yaml:"tenant"`
	User   string `yaml:"user,omitempty"`
	Plan   string `yaml:"plan,omitempty"`
}

func newAPIKeyNew(sys system) *cobra.Command {
	var e keyEntry
	cmd := &cobra.Command{
		Use:   "new",
		Short: "Make a random key and its entry",
		Long: `New prints a fresh random key, once, and below it the entry to add to the file
that api_keys names. The file holds a digest: the key cannot be had back from it.`,
		Example: `  weir apikey new --id acme-prod --tenant acme
  weir apikey new --id acme-ci --tenant acme --user ci --plan pro`,
		Args: noArgs("id"),
		RunE: func(*cobra.Command, []string) error {
			if e.ID == "" || e.Tenant == "" {
				return usage("for example weir apikey new --id acme-prod --tenant acme", "a key has an --id and a --tenant")
			}
			secret := make([]byte, keyRandom)
			if _, err := rand.Read(secret); err != nil {
				return fmt.Errorf("make a key: %w", err)
			}
			return writeKey(sys.out, keyPrefix+base64.RawURLEncoding.EncodeToString(secret), e)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&e.ID, "id", "", "`name` of the key: the dimension api_key")
	flags.StringVar(&e.Tenant, "tenant", "", "`tenant` whose key it is")
	flags.StringVar(&e.User, "user", "", "`user` of the tenant whose key it is")
	flags.StringVar(&e.Plan, "plan", "", "`plan` of who uses the key")
	for _, name := range []string{"id", "tenant", "user", "plan"} {
		fromEnv(flags, name, "WEIR_APIKEY_"+strings.ToUpper(name))
	}
	return cmd
}

func writeKey(w io.Writer, key string, e keyEntry) error {
	e.SHA256 = digestOf(key)
	entry, err := yaml.Marshal([]keyEntry{e})
	if err != nil {
		return err
	}
	text := strings.ReplaceAll(strings.TrimSuffix(string(entry), "\n"), "\n", "\n  ")
	_, err = fmt.Fprintf(w, "%s\n\n  %s\n", key, text)
	return err
}

func newAPIKeyDigest(sys system) *cobra.Command {
	return &cobra.Command{
		Use:   "digest",
		Short: "Print the digest of a key that is read from the standard input",
		Long: `Digest reads a key from the standard input, without its line end, and prints
its SHA-256 as the file that api_keys names has it. A key has no place on a
command line, where other users see it.`,
		Example: `  weir apikey digest < key.txt`,
		Args:    noArgs(""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			data, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), maxKeyBytes+3))
			if err != nil {
				return fmt.Errorf("read a key: %w", err)
			}
			key := strings.TrimRight(string(data), "\r\n")
			if key == "" || len(key) > maxKeyBytes || strings.TrimSpace(key) != key || strings.ContainsAny(key, "\r\n") {
				return usage("for example weir apikey digest < key.txt",
					"want one key of 1 to %d bytes, on a line of its own, without spaces around it", maxKeyBytes)
			}
			_, err = fmt.Fprintln(sys.out, digestOf(key))
			return err
		},
	}
}

func digestOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}
