import { describe, expect, test } from 'vitest';
import { type ChildKind, ConfigError, childEnvironment, loadConfig } from './env.ts';
import { defaultLimits } from './limits.ts';

describe('the environment', () => {
  test('is optional', () => {
    const config = loadConfig({});
    expect(config).toMatchObject({
      host: '127.0.0.1',
      port: 3000,
      gatewayPort: 3001,
      gatewayWorkers: 1,
      url: 'http://localhost:3000',
      gatewayUrl: 'http://localhost:3001',
      tls: null,
      databaseUrl: null,
      secretKey: null,
      bootstrap: { token: null, person: null },
      vmRate: 20,
      custody: 'portal',
      enrolProof: 'optional',
      limits: defaultLimits,
    });
    expect(config.dataDir).toMatch(/\/\.data$/);
  });

  test.each([
    [{ PORT: '8080' }, { port: 8080, url: 'http://localhost:8080' }],
    [{ HOST: '10.0.0.5' }, { url: 'http://10.0.0.5:3000', gatewayUrl: 'http://10.0.0.5:3001' }],
    [{ HOST: '::' }, { url: 'http://localhost:3000' }],
    [{ ANNEX_URL: 'https://annex.example/' }, { url: 'https://annex.example' }],
    [{ ANNEX_TLS_CERT: '/c.pem', ANNEX_TLS_KEY: '/k.pem' }, { gatewayUrl: 'https://localhost:3001' }],
    [{ ANNEX_VM_RATE: '0' }, { vmRate: 0 }],
    [{ ANNEX_CUSTODY: 'vm' }, { custody: 'vm' }],
    [{ ANNEX_ENROL_PROOF: 'required' }, { enrolProof: 'required' }],
    [{ ANNEX_WIRE: 'on' }, { wire: true }],
    [
      { ANNEX_SECURITY_CONTACT: 'mailto:security@annex.example, https://annex.example/report' },
      { securityContacts: ['mailto:security@annex.example', 'https://annex.example/report'] },
    ],
    [
      { DATABASE_URL: '', PORT: '' },
      { databaseUrl: null, port: 3000 },
    ],
    [
      { ANNEX_LIMITS: '{"report":{"entries":7}}' },
      { limits: { ...defaultLimits, report: { ...defaultLimits.report, entries: 7 } } },
    ],
  ])('%j', (env, expected) => {
    expect(loadConfig(env)).toMatchObject(expected);
  });

  test.each([
    [{ PORT: 'x' }, 'PORT must be a port'],
    [{ PORT: '70000' }, 'PORT must be a port'],
    [{ PORT: '3001' }, 'GATEWAY_PORT must differ from PORT'],
    [{ ANNEX_URL: 'annex.example' }, 'ANNEX_URL must be http'],
    [{ ANNEX_URL: 'https://annex.example/annex' }, 'ANNEX_URL must be http'],
    [{ ANNEX_TRUST_PROXY: '10.0.0.0/40' }, 'ANNEX_TRUST_PROXY must be addresses'],
    [{ ANNEX_SECURITY_CONTACT: 'security@annex.example' }, 'ANNEX_SECURITY_CONTACT must be mailto:'],
    [{ ANNEX_SECURITY_CONTACT: 'https://a.example\nExpires: x' }, 'ANNEX_SECURITY_CONTACT must be mailto:'],
    [{ ANNEX_TRUST_PROXY: 'proxy' }, 'ANNEX_TRUST_PROXY must be addresses'],
    [{ ANNEX_TLS_CERT: '/c.pem' }, 'ANNEX_TLS_KEY must be set'],
    [{ DATABASE_URL: 'mysql://x' }, 'DATABASE_URL must be a postgres://'],
    [{ DATABASE_URL: 'postgres://u:p@one:5432,two:x/annex' }, 'DATABASE_URL must name each of its hosts'],
    [{ DATABASE_URL: 'postgres://one,/annex' }, 'DATABASE_URL must name each of its hosts'],
    [{ DATABASE_URL: 'postgres://one,two/annex?host=three' }, 'DATABASE_URL must name its hosts in one place'],
    [{ DATABASE_URL: 'postgres://one,two/annex?target_session_attrs=any' }, 'target_session_attrs=read-write or none'],
    [{ GATEWAY_WORKERS: '0' }, 'GATEWAY_WORKERS must be a number of processes'],
    [{ NATS_URL: 'nats://one:4222,http://two' }, 'NATS_URL must be nats://'],
    [{ ANNEX_SECRET_KEY: 'short' }, 'ANNEX_SECRET_KEY must have 32'],
    [{ ANNEX_BOOTSTRAP_TOKEN: 'short' }, 'ANNEX_BOOTSTRAP_TOKEN must have 32'],
    [{ ANNEX_BOOTSTRAP_EMAIL: 'a@b.example' }, 'ANNEX_BOOTSTRAP_PASSWORD must be set'],
    [{ ANNEX_BOOTSTRAP_PASSWORD: 'elevenchars' }, 'ANNEX_BOOTSTRAP_PASSWORD must have 12'],
    [{ ANNEX_VM_RATE: '-1' }, 'ANNEX_VM_RATE must be a whole number'],
    [{ ANNEX_CUSTODY: 'both' }, 'ANNEX_CUSTODY must be portal or vm'],
    [{ ANNEX_WIRE: 'yes' }, 'ANNEX_WIRE must be on or off'],
    [{ ANNEX_LIMITS: '{"report":{"entires":7}}' }, 'there is no limit report.entires'],
    [{ ANNEX_LIMITS: '{"jsonDepth":0}' }, 'jsonDepth must be a whole number'],
  ])('rejects %j', (env, sentence) => {
    expect(() => loadConfig(env)).toThrow(sentence);
  });

  test('lists all faults together, without values', () => {
    const env = { PORT: 'x', ANNEX_SECRET_KEY: 'hunter2', ANNEX_LOG: 'maybe' };
    const error = (() => {
      try {
        loadConfig(env);
      } catch (thrown) {
        return thrown as Error;
      }
    })();
    expect(error).toBeInstanceOf(ConfigError);
    expect(error?.message).toMatch(/PORT.*ANNEX_SECRET_KEY.*ANNEX_LOG/s);
    expect(error?.message).not.toContain('hunter2');
  });

  test('trusts forwarded headers only from the named networks', () => {
    const { trustProxy } = loadConfig({ ANNEX_TRUST_PROXY: '10.0.0.0/8, fd00::1' });
    expect(trustProxy.check('10.1.2.3', 'ipv4')).toBe(true);
    expect(trustProxy.check('11.1.2.3', 'ipv4')).toBe(false);
    expect(trustProxy.check('fd00::1', 'ipv6')).toBe(true);
    expect(loadConfig({}).trustProxy.check('127.0.0.1', 'ipv4')).toBe(false);
  });

  test('is passed to child processes by an allow-list', () => {
    const planted = {
      AWS_SECRET_ACCESS_KEY: 'planted',
      ANNEX_SECRET_KEY: 'k'.repeat(32),
      ANNEX_BOOTSTRAP_TOKEN: 't'.repeat(32),
      ANNEX_BOOTSTRAP_EMAIL: 'ada@example.org',
      ANNEX_BOOTSTRAP_PASSWORD: 'a long enough pass',
      ANNEX_OIDC_CLIENT_SECRET: 'of the provider',
      ANNEX_AMQP_URL: 'amqp://name:password@broker.example.net',
    };
    Object.assign(process.env, planted);
    try {
      const namesFor = (kind: ChildKind) =>
        Object.keys(childEnvironment(kind)).filter((name) => Object.hasOwn(planted, name));
      expect(namesFor('portal').sort()).toEqual(['ANNEX_OIDC_CLIENT_SECRET', 'ANNEX_SECRET_KEY']);
      expect(namesFor('gateway')).toEqual(['ANNEX_SECRET_KEY']);
      expect(namesFor('worker')).toEqual(['ANNEX_SECRET_KEY']);
      expect(namesFor('conductor').sort()).toEqual(['ANNEX_AMQP_URL', 'ANNEX_SECRET_KEY']);
      expect(namesFor('build')).toEqual([]);
      const env = childEnvironment('worker', { DATABASE_URL: 'postgres://here/annex' });
      expect(env).toMatchObject({ DATABASE_URL: 'postgres://here/annex', NODE_ENV: 'production' });
    } finally {
      for (const name of Object.keys(planted)) delete process.env[name];
    }
  });
});
