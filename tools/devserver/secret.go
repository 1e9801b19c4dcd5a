package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"time"

	"go.temporal.io/server/common/rpc/encryption"
)

// innerName is what the certificate of this process is called.
const innerName = "devserver.internal"

// certificateLife is longer than any process.
const certificateLife = 20 * 365 * 24 * time.Hour

// secret is a key that never leaves this process. With it the four services recognise each other and the door: whoever
// else connects to their ports is not served.
type secret struct {
	certificate tls.Certificate
	pool        *x509.CertPool
}

func newSecret() (*secret, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key for the server's own connections: %w", err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: innerName}, DNSNames: []string{innerName},
		NotBefore: now.Add(-24 * time.Hour), NotAfter: now.Add(certificateLife), // a clock may be set back
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate for the server's own connections: %w", err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("make a certificate for the server's own connections: %w", err)
	}
	s := &secret{certificate: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, pool: x509.NewCertPool()}
	s.pool.AddCert(leaf)
	return s, nil
}

func (s *secret) server() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{s.certificate}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: s.pool}
}

func (s *secret) client() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{s.certificate}, RootCAs: s.pool, ServerName: innerName}
}

// innerTLS hands the secret to the services.
type innerTLS struct{ *secret }

var _ encryption.TLSConfigProvider = innerTLS{}

func (i innerTLS) GetInternodeServerConfig() (*tls.Config, error) { return i.server(), nil }
func (i innerTLS) GetInternodeClientConfig() (*tls.Config, error) { return i.client(), nil }
func (i innerTLS) GetFrontendServerConfig() (*tls.Config, error)  { return i.server(), nil }
func (i innerTLS) GetFrontendClientConfig() (*tls.Config, error)  { return i.client(), nil }

func (i innerTLS) GetRemoteClusterClientConfig(string) (*tls.Config, error) { return i.client(), nil }

func (i innerTLS) GetExpiringCerts(time.Duration) (expiring, expired encryption.CertExpirationMap, err error) {
	return nil, nil, nil
}
