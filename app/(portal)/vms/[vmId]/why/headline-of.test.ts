import { expect, test } from 'vitest';
import type { InstanceDetails } from '../vm-data.ts';
import { headlineOf } from './headline-of.ts';

type Extension = InstanceDetails['extensions'][number];
type Explanation = NonNullable<InstanceDetails['explanation']>;

const message = (text: string) => ({ text, lang: 'en' });

function given(lead: string, title: string, extension: object = {}, about = 'share') {
  const status = { status: 'error', sequenceNumber: 2, message: message('No such share') };
  const link = { kind: 'cause', extension: about, title: { code: title } };
  const explanation = { extension: 'share', lead: { code: lead }, links: [{ kind: 'touch', extension: null }, link] };
  const share = { name: 'share', goalSequenceNumber: 2, status, heartbeat: { message: null }, failedPart: null };
  return {
    explanation: explanation as unknown as Explanation,
    units: null,
    extensions: [{ ...share, ...extension } as unknown as Extension],
  };
}

const status = (word: string, sequenceNumber = 2) => ({ status: word, sequenceNumber, message: message('Copying') });

test.each<[what: string, view: ReturnType<typeof given>, text: string | undefined]>([
  ['an error status', given('lead.error', 'error'), 'No such share'],
  ['an error status of a failed command', given('lead.failed.exit', 'failed'), 'No such share'],
  ['a dependency that failed', given('lead.blocked.exit', 'failed'), 'No such share'],
  ['a warning', given('lead.warns', 'warns', { status: status('warning') }), 'Copying'],
  ['progress', given('lead.works', 'works', { status: status('transitioning') }), 'Copying'],
  [
    'a failed substatus',
    given('lead.part', 'part', { failedPart: { message: message('Volume B is full') } }),
    'Volume B is full',
  ],
  [
    'a heartbeat',
    given('lead.notReady', 'notReady', { heartbeat: { message: message('Queue is full') } }),
    'Queue is full',
  ],
  [
    'progress before a command failed',
    given('lead.failed.exit', 'failed', { status: status('transitioning') }),
    undefined,
  ],
  ['a status of earlier settings', given('lead.error', 'error', { status: status('error', 1) }), undefined],
  ['a silent agent', given('lead.silent', 'works', { status: status('transitioning') }), undefined],
  ['a change that is not delivered', given('lead.undelivered', 'error'), undefined],
  ['missing secrets', given('lead.secrets', 'secrets'), undefined],
  ['an extension without a status', given('lead.failed.exit', 'failed', { status: null }), undefined],
  ['an extension that is gone', given('lead.error', 'error', {}, 'other'), undefined],
])('the headline of %s', (_, view, text) => {
  expect(headlineOf(view)?.text).toBe(text);
});

test('a VM without a problem has no headline', () => {
  expect(headlineOf({ explanation: null, extensions: [], units: null })).toBeNull();
});

test('the headline about a unit is what its hook wrote', () => {
  const { explanation, extensions } = given('lead.error', 'error');
  const units = { unit: 'blog/0', message: message('store/0 is too small') } as unknown as InstanceDetails['units'];
  const about = { ...explanation, extension: 'blog/0' };
  expect(headlineOf({ explanation: about, extensions, units })?.text).toBe('store/0 is too small');
  expect(headlineOf({ explanation, extensions, units })?.text).toBe('No such share');
});
