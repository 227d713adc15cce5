import { describe, expect, test } from 'vitest';
import german from '#locales/de/reports.json' with { type: 'json' };
import english from '#locales/en/reports.json' with { type: 'json' };
import { explain } from './explain.ts';
import { explanation, type Sentence, type SentenceCode } from './explanation.ts';
import { noticeOf } from './notice.ts';
import { everySituation, now } from './testing/every-situation.ts';

const situations = [...everySituation()];
const explained = situations.flatMap((vm) => {
  const found = explain(vm, now);
  return found === null ? [] : [{ vm, found }];
});

/** Shortens a list of faults for the failure message: their number and the first three. */
const shown = (faults: readonly unknown[]) => [faults.length, ...faults.slice(0, 3)];
const none = [0];

test('there are many situations, and most of them need an explanation', () => {
  expect(situations.length).toBeGreaterThan(5_000);
  expect(explained.length).toBeGreaterThan(situations.length / 2);
});

test('every explanation has the form that the API documents', () => {
  const distinct = new Map(explained.map(({ found }) => [JSON.stringify(found), found]));
  const faults = [...distinct.values()].filter((found) => !explanation.safeParse(found).success);
  expect(shown(faults)).toEqual(none);
});

describe.each([
  ['English', english],
  ['German', german],
])('in %s', (_, texts: Readonly<Record<string, string>>) => {
  /** Returns the placeholders of a text that have no value. */
  function gapsOf(text: string, values: Readonly<Record<string, string | number>>, at: string | null): string[] {
    const names = [...text.matchAll(/\{\{(\w+)\}\}/g)].map(([, name = '']) => name);
    const gaps = names.filter((name) => (values[name] ?? '') === '');
    return at === null && /<(time|clock|elapsed|countdown)>/.test(text) ? [...gaps, 'time'] : gaps;
  }

  test('no sentence of an explanation has a gap', () => {
    const faults = explained.flatMap(({ vm, found: { lead, links } }) =>
      [lead, ...links.flatMap(({ title, detail }) => (detail === null ? [title] : [title, detail]))].flatMap(
        ({ code, values, at }: Sentence) => {
          const gaps = gapsOf(texts[`why.${code}`] ?? '{{text}}', values, at);
          return gaps.length === 0 ? [] : [{ code, gaps, of: vm.extensions[0] }];
        },
      ),
    );
    expect(shown(faults)).toEqual(none);
  });

  test('no notice has a gap', () => {
    const faults = situations.flatMap(({ extensions: [extension] }) => {
      const notice = extension && noticeOf(extension);
      if (!notice) return [];
      const gaps = gapsOf(texts[`said.${notice.code}`] ?? '{{text}}', notice.values, null);
      return gaps.length === 0 ? [] : [{ code: notice.code, gaps, of: extension }];
    });
    expect(shown(faults)).toEqual(none);
  });
});

/** The title of the cause link for each form of lead. A lead about the agent or about the delivery fits every cause. */
const titles: readonly [lead: RegExp, title: SentenceCode | RegExp][] = [
  [/^lead\.failed/, 'failed'],
  [/^lead\.error$/, 'error'],
  [/^lead\.refused$/, 'refused'],
  [/^lead\.late\./, 'late'],
  [/^lead\.(secrets|release)$/, /^(secrets|release)$/],
  [/^lead\.waits$/, 'wait'],
  [/^lead\.part/, /^part/],
  [/^lead\.warns(Since)?$/, 'warns'],
  [/^lead\.(\w+)$/, /./],
];

test('the first sentence and the cause below it agree', () => {
  const faults = explained.filter(({ found: { lead, links } }) => {
    const cause = links.find(({ kind }) => kind === 'cause');
    if (cause === undefined || /^lead\.(held|hold|silent|undelivered|turn(\.\w+)?)$/.test(lead.code)) return false;
    const [, title] = titles.find(([form]) => form.test(lead.code)) ?? [];
    const expected = title instanceof RegExp ? title : new RegExp(`^${title}$`);
    const isNamed = title?.toString() !== '/./' || cause.title.code === lead.code.slice('lead.'.length);
    return !expected.test(cause.title.code) || !isNamed;
  });
  expect(shown(faults)).toEqual(none);
});

test('the question “Why is it degraded?” is never answered with “is not done”', () => {
  const notDone = /^lead\.(held|hold|silent|undelivered|late\.\w+|failed.*|quiet|begun)$/;
  const faults = explained.filter(({ found }) => found.question === 'degraded' && notDone.test(found.lead.code));
  expect(shown(faults)).toEqual(none);
});

test('a chain is the agent, the delivery, the cause and the turn, deadline or hold, each once and in this order', () => {
  const order = ['touch', 'delivery', 'wait', 'cause', 'turn', 'hold', 'deadline'];
  const faults = explained.filter(({ found: { links } }) => {
    const places = links.map(({ kind }) => order.indexOf(kind));
    return places.some((place, at) => at > 0 && place <= (places[at - 1] ?? 0));
  });
  expect(shown(faults)).toEqual(none);
});

test('a link after a broken link is never whole', () => {
  const faults = explained.filter(({ found: { links } }) =>
    links.some(
      ({ holds }, at) => holds && links.slice(0, at).some((before) => before.kind !== 'touch' && !before.holds),
    ),
  );
  expect(shown(faults)).toEqual(none);
});

test('a healthy or disabled extension needs no explanation, and a failed extension always has one', () => {
  const faults = situations.filter((vm) => {
    const [extension] = vm.extensions;
    if (extension === undefined || extension.needsSecrets || extension.needsRelease) return false;
    const isExplained = explain(vm, now) !== null;
    if (extension.health === 'disabled') return isExplained;
    if (extension.health === 'healthy' && extension.concludedWith === 'success') return isExplained;
    return extension.health === 'failed' && !isExplained;
  });
  expect(shown(faults)).toEqual(none);
});

test('a removal that the agent has not started names no earlier command', () => {
  const faults = explained.filter(({ vm, found: { links } }) => {
    const reported = vm.extensions[0]?.handlerState?.sequenceNumber ?? 0;
    return reported < 2 && links.some(({ detail }) => detail?.code === 'leaving.command');
  });
  expect(shown(faults)).toEqual(none);
});
