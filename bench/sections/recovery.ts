import type { StatusObject } from '#protocol/index.ts';
import { fillTemplate, placeholdersOf } from '#protocol/template.ts';
import { sampleLanguages, sampleResource, samples } from '#samples/build.ts';
import { MessageMatcher, type Messages, recoverStatus } from '#server/domain/localization/index.ts';
import { byExpressions } from '../yardsticks/expressions.ts';
import { alternate, type Bench, type Figure, figureOf } from './section.ts';

/** Typical values in handler messages: names, numbers, paths, sentences and an empty text. */
const values = [
  ...['files.example.net', 'backup', '7', '91.5', '/var/lib/annex', 'C:\\Program Files\\Probe', 'fd00::1'],
  ...['disk 1 of 2', 'No space left on device.', 'Zugriff verweigert', '接続できません', ''],
];

interface Catalogue {
  matcher: MessageMatcher;
  english: Messages;
}

const catalogueOf = (languages: ReadonlyMap<string, Messages>): Catalogue => ({
  matcher: new MessageMatcher(languages),
  english: languages.get('en') ?? {},
});

const sampleHandlers = [...new Set(samples.map(({ handler }) => handler))];

const ofSample = (handler: string): Catalogue =>
  catalogueOf(
    new Map(
      sampleLanguages.map((lang) => {
        const [file] = sampleResource(handler, lang) as [{ messages: { id: string; text: string }[] }];
        return [lang, Object.fromEntries(file.messages.map(({ id, text }) => [id, text]))];
      }),
    ),
  );

/** Returns a catalog with this many messages, many of which begin with the same words. */
function largeCatalogue(count: number): Catalogue {
  const things = ['volume', 'service', 'certificate', 'user', 'package', 'rule', 'share', 'task', 'network', 'key'];
  const ends = [
    'could not be read from {1}',
    'was changed by {1}',
    'is in use since {1}',
    'was removed after {1} tries',
  ];
  const english = Object.fromEntries(
    Array.from({ length: count }, (_, n) => [
      `m${n}`,
      `The ${things[n % 10]} {0} of step ${n} ${ends[Math.floor(n / 10) % 4]}.`,
    ]),
  );
  return catalogueOf(new Map([['en', english]]));
}

/** Fills every template with every value as its first param, the next value as its second param, and so on. */
function textsOf({ english }: Catalogue): { id: string; params: string[]; text: string }[] {
  return Object.entries(english).flatMap(([id, template]) => {
    const count = placeholdersOf(template).length;
    return values.slice(0, count === 0 ? 1 : values.length).map((_, first) => {
      const params = Array.from({ length: count }, (_, place) => values[(first + place) % values.length] ?? '');
      return { id, params, text: fillTemplate(template, params) };
    });
  });
}

/** Measures how many handler messages can be recovered from their texts, and what that costs per status. */
export async function recovery(bench: Bench): Promise<Figure[]> {
  return [shareOf(sampleHandlers.map(ofSample)), ...(await costs(bench))];
}

function shareOf(catalogues: readonly Catalogue[]): Figure {
  const tally = () => ({ right: 0, wrong: 0 });
  const [ours, first] = [tally(), tally()];
  let all = 0;
  for (const catalogue of catalogues) {
    const byFirst = byExpressions(catalogue.english);
    for (const { id, params, text } of textsOf(catalogue)) {
      const count = (into: typeof ours, found: { id: string; params: string[] } | null): void => {
        const isRight = found?.id === id && found.params.join('\n') === params.join('\n');
        if (isRight) into.right += 1;
        else if (found !== null) into.wrong += 1;
      };
      all += 1;
      count(ours, catalogue.matcher.match(text));
      count(first, byFirst(text));
    }
  }
  const share = (count: number): number => (100 * count) / all;
  return {
    what: 'messages of the sample handlers, found again',
    unit: '%',
    ours: share(ours.right),
    yardstick: { what: 'the first expression that fits', value: share(first.right) },
    ratio: ours.right / first.right,
    target: { kind: 'at least', value: 95, of: 'value' },
    rounds: [{ ours: share(ours.right), yardstick: share(first.right) }],
    note: `${all} texts; taken for another message, or with other params: ${ours.wrong}, by the baseline ${first.wrong}`,
  };
}

async function costs({ rounds, seconds }: Bench): Promise<Figure[]> {
  const cases = [
    { what: 'statuses of the sample handlers, recovered', catalogue: ofSample('Northwind.Storage.Mount') },
    { what: 'statuses of a handler with 2,000 messages, recovered', catalogue: largeCatalogue(2_000) },
  ];
  const figures: Figure[] = [];
  for (const { what, catalogue } of cases) {
    const { matcher, english } = catalogue;
    const byFirst = byExpressions(english);
    const texts = textsOf(catalogue).map(({ text }) => text);
    const measured = await alternate(
      rounds,
      async () => perSecond(seconds, texts, (status) => recoverStatus(status, matcher)),
      async () =>
        perSecond(seconds, texts, (status) => {
          for (const each of [status, ...status.substatus]) byFirst(each.formattedMessage?.message ?? '');
        }),
    );
    const base = { what, unit: '/s', target: null, against: 'an expression for each message, in turn' };
    figures.push(figureOf(base, measured));
  }
  return figures;
}

/** Recovers the messages of statuses with two substatuses, each with a distinct text. Returns statuses per second. */
function perSecond(seconds: number, texts: readonly string[], work: (status: StatusObject) => void): number {
  const statuses = texts.map((_, at): StatusObject[] =>
    [0, 1, 2].map((part) => ({
      status: 'success',
      formattedMessage: { lang: 'en-US', message: texts[(at * 7 + part * 3) % texts.length] ?? '' },
      substatus: [],
    })),
  );
  const begun = performance.now();
  let done = 0;
  while (performance.now() - begun < seconds * 1_000) {
    for (const [status, ...substatus] of statuses) {
      if (status === undefined) continue;
      delete status.message;
      for (const each of substatus) delete each.message;
      work({ ...status, substatus });
      done += 1;
    }
  }
  return (done * 1_000) / (performance.now() - begun);
}
