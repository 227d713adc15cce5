import { EventEmitter } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  type FalseBroker,
  startFalseBroker,
  startPlainServer,
  startSilentServer,
  type TestServer,
} from '#server/testing/false-broker.ts';
import { createAuthority, type TlsFiles } from '#server/testing/tls-authority.ts';
import { BrokerError, closed, openBroker } from './broker.ts';

let trusted: TlsFiles;
let certificates: Record<'authority' | 'expired' | 'name', TlsFiles>;
let broker: FalseBroker;
let silent: TestServer;
let plain: TestServer;
beforeAll(async () => {
  const [authority, other] = [await createAuthority(), await createAuthority()];
  trusted = await authority.issue('localhost');
  certificates = {
    authority: await other.issue('localhost'),
    expired: await authority.issue('localhost', -1),
    name: await authority.issue('broker.example.net'),
  };
  broker = await startFalseBroker(certificates.authority);
  silent = await startSilentServer();
  plain = await startPlainServer();
});
afterAll(async () => {
  await broker?.close();
  await silent?.close();
  await plain?.close();
});

/** Connects, and returns the fault with which the connection fails. */
async function faultOf(url: string, caFile = trusted.ca): Promise<string> {
  const options = { results: 'results', onAnswer: () => {}, onLost: () => {} };
  const error = await openBroker({ url, caFile, ...options }).then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof BrokerError)) throw new Error(`unexpected: ${String(error)}`);
  expect(error.message, 'the error message never contains the password').not.toContain('secret');
  return error.fault;
}

const amqps = (port: number) => `amqps://annex:secret@localhost:${port}?connection_timeout=300`;

describe('a certificate that cannot be verified', () => {
  afterEach(() => {
    delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  });

  test.each([
    ['authority', 'conductor.certificate-authority'],
    ['expired', 'conductor.certificate-expired'],
    ['name', 'conductor.certificate-name'],
  ] as const)('(%s) is rejected, even if the environment turns verification off', async (kind, fault) => {
    broker.use(certificates[kind]);
    expect(await faultOf(amqps(broker.port))).toBe(fault);
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    expect(await faultOf(amqps(broker.port))).toBe(fault);
    expect(broker.received(), 'the client has not signed in').toBe('');
  });
});

describe('a broker', () => {
  test.each<[what: string, url: () => string, fault: string]>([
    ['without TLS on the port of an amqps:// address', () => amqps(plain.port), 'conductor.tls'],
    ['that hangs in the TLS handshake', () => amqps(silent.port), 'conductor.unreachable'],
    ['that hangs before the sign-in', () => amqps(silent.port).replace('amqps', 'amqp'), 'conductor.unreachable'],
    ['on a port that is closed', () => 'amqp://annex:secret@localhost:1', 'conductor.unreachable'],
    ['whose name is unknown', () => 'amqp://annex:secret@broker.invalid', 'conductor.unreachable'],
  ])('%s', async (_, url, fault) => {
    expect(await faultOf(url())).toBe(fault);
  });
});

test('a file of authorities that is missing or contains no certificate is named', async () => {
  const empty = path.join(path.dirname(trusted.ca), 'empty.pem');
  writeFileSync(empty, 'not a certificate');
  expect(await faultOf(amqps(broker.port), '/nowhere/ca.pem')).toBe('conductor.authority-file');
  expect(await faultOf(amqps(broker.port), empty)).toBe('conductor.authority-file');
});

test('closing ends if the connection is lost before the broker confirms the close', async () => {
  const connection = Object.assign(new EventEmitter(), { close: () => new Promise<void>(() => {}) });
  const closing = closed(connection);
  connection.emit('close');
  await closing;
});
