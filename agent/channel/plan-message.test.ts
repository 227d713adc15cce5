import type { ConsumeMessage } from 'amqplib';
import { describe, expect, test } from 'vitest';
import { amqpSettingsOf } from './amqp-settings.ts';
import { envelopeOf, replyOf } from './plan-message.ts';

const now = new Date('2026-11-22T09:15:00Z');

/** Converts a message with this body and these properties to an envelope; returns null if that is not possible. */
function read(body: unknown, properties: object = {}) {
  const content = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return envelopeOf({ content, properties, fields: {} } as ConsumeMessage, { turn: 7, now })?.envelope ?? null;
}

describe('a message from the broker', () => {
  test('with a plan from the conductor becomes an execution with its turn and its timeout', () => {
    const headers = { 'annex-turn': 42, 'annex-timeout-seconds': 60 };
    const properties = { messageId: 'm', replyTo: 'r', headers };
    const plan = { FormatVersion: '2.0.0', ID: 'p', Stamp: 5, Body: 'return 1' };
    const envelope = read(plan, properties);
    expect(envelope).toMatchObject({ id: 'p', stamp: 5, turn: 42, timeoutSeconds: 60, plan });
    expect(envelope && replyOf(envelope)).toEqual({ messageId: 'm', replyTo: 'r' });
  });

  test('with a plan from another sender comes after the current goal state, and has a timeout of one hour', () => {
    const envelope = read({ FormatVersion: '2.0.0' }, { messageId: 'm' });
    expect(envelope).toMatchObject({ id: 'm', turn: 7, timeoutSeconds: 3_600, stamp: now.getTime() * 10 });
    expect(envelope && replyOf(envelope)).toEqual({ messageId: 'm', replyTo: null });
  });

  test('keeps the digits of the plan', () => {
    const content = Buffer.from('{"ID":"p","Parameters":{"n":1.0,"big":12345678901234567890}}');
    const given = envelopeOf({ content, properties: {}, fields: {} } as ConsumeMessage, { turn: 0, now });
    expect(given?.text).toContain('{"n":1.0,"big":12345678901234567890}');
  });

  test('names the queue of its answers in ReplyTo or in reply_to', () => {
    const given = read({ ID: 'p', ReplyTo: 'plan' }, { replyTo: 'message' });
    expect(given && replyOf(given)).toEqual({ messageId: 'p', replyTo: 'plan' });
  });

  test('with secret parameters has them in the same properties as an envelope of the portal', () => {
    const sealed = { protectedParameters: 'AA==', protectedParametersCertThumbprint: 'AB' };
    expect(read({ ID: 'p', ...sealed })).toMatchObject(sealed);
  });

  test.each<[what: string, body: unknown]>([
    ['no JSON', 'not json {'],
    ['a list', [1]],
    ['a text', '"x"'],
    ['nothing', ''],
    ['9 MiB', 'x'.repeat(9 * 1024 * 1024)],
  ])('that is %s is an execution without a plan if it has a message_id, and is discarded otherwise', (_, body) => {
    expect(read(body, { messageId: 'm' })).toMatchObject({ id: 'm', plan: null });
    expect(read(body)).toBeNull();
  });

  test('with headers of every type is read', () => {
    const headers = { 'annex-turn': 'soon', 'annex-timeout-seconds': -1, table: { a: [1, null, true] } };
    expect(read({ ID: 'p' }, { headers })).toMatchObject({ turn: 7, timeoutSeconds: 3_600 });
  });
});

describe('the settings for AMQP', () => {
  test('need a host and a queue, and have defaults', () => {
    expect(amqpSettingsOf({})).toBeNull();
    expect(() => amqpSettingsOf({ amqpHost: 'h' })).toThrow('amqpInputQueue');
    expect(amqpSettingsOf({ amqpHost: 'h', amqpInputQueue: 'q' })).toMatchObject({
      ...{ port: 5671, tls: true, virtualHost: '/', login: 'guest', dynamicReply: false, heartbeatSeconds: 20 },
      ...{ resultExchange: '', resultRoutingKey: 'annex-execution-results' },
    });
    expect(amqpSettingsOf({ amqpHost: 'h', amqpInputQueue: 'q', amqpTls: 'off' })).toMatchObject({ port: 5672 });
  });
});
