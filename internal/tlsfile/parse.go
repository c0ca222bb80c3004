package tlsfile

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/weirlimit/weir"
)

func wrong(path, message, hint string, cause error) error {
	return &weir.Error{Code: weir.CodeInvalid, Field: path, Message: message, Hint: hint, Err: cause}
}

// explain says what to do about a file that cannot be read.
func explain(err error) error {
	bad, ok := errors.AsType[*fs.PathError](err)
	switch {
	case err == nil || !ok:
		return err
	case errors.Is(err, fs.ErrNotExist):
		return wrong(bad.Path, "there is no such file", "see whether the path is right and the volume is mounted", err)
	case errors.Is(err, fs.ErrPermission):
		return wrong(bad.Path, "may not be read", "let the user that weir runs as read it", err)
	}
	return wrong(bad.Path, "cannot be read", "", err)
}

// parsePair reads a certificate, with those between it and the authority, and
// its key.
func parsePair(certFile string, cert []byte, keyFile string, key []byte) (tls.Certificate, error) {
	if !hasBlock(cert, "CERTIFICATE") {
		hint := "a file in PEM form has a line -----BEGIN CERTIFICATE-----"
		if hasBlock(cert, "PRIVATE KEY") {
			hint = "it holds a key: are the two files swapped?"
		}
		return tls.Certificate{}, wrong(certFile, "holds no certificate in PEM form", hint, nil)
	}
	if hasBlock(key, "ENCRYPTED PRIVATE KEY") {
		return tls.Certificate{}, wrong(keyFile, "holds a key under a password",
			"take the password off: openssl pkey -in OLD -out NEW, and keep the file from other users", nil)
	}
	if !hasBlock(key, "PRIVATE KEY") {
		return tls.Certificate{}, wrong(keyFile, "holds no private key in PEM form", "a file in PEM form has a line -----BEGIN PRIVATE KEY-----", nil)
	}
	certs, err := parseCerts(certFile, cert)
	if err != nil {
		return tls.Certificate{}, err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil && strings.Contains(err.Error(), "does not match") {
		return tls.Certificate{}, wrong(keyFile, "is not the key of the certificate in "+certFile,
			"give the key that the certificate was made for; while both are being replaced this passes by itself", nil)
	}
	if err != nil {
		return tls.Certificate{}, wrong(keyFile, "holds a key that cannot be used", "", err)
	}
	pair.Leaf = certs[0]
	return pair, nil
}

// parsePool reads the certificates of authorities.
func parsePool(path string, text []byte) (*x509.CertPool, error) {
	certs, err := parseCerts(path, text)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	for _, c := range certs {
		pool.AddCert(c)
	}
	return pool, nil
}

// parseCerts reads all certificates of a file, of which there is at least one.
// One that is malformed is an error: a bundle that lost a part would be noticed
// when it is missed.
func parseCerts(path string, text []byte) ([]*x509.Certificate, error) {
	var certs []*x509.Certificate
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, wrong(path, fmt.Sprintf("certificate %d of the file is malformed", len(certs)+1), "", err)
		}
		certs = append(certs, c)
	}
	if len(certs) == 0 {
		return nil, wrong(path, "holds no certificate in PEM form", "a file in PEM form has a line -----BEGIN CERTIFICATE-----", nil)
	}
	return certs, nil
}

// hasBlock tells whether there is a block whose kind ends so: keys have theirs
// in front, as in EC PRIVATE KEY.
func hasBlock(text []byte, kind string) bool {
	return bytes.Contains(text, []byte(kind+"-----"))
}
