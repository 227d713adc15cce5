import { z } from 'zod';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { type ExportedVm, exportFleet } from '#server/domain/views/index.ts';
import { languageFor, translate } from '#server/i18n/index.ts';
import { csvLine } from './csv.ts';
import { filterOf, fleetQuery } from './fleet-query.ts';

type Column = [word: string, cell: (vm: ExportedVm) => string | number | null];

const columns: readonly Column[] = [
  ['column.name', ({ name }) => name],
  ['csv.id', ({ id }) => id],
  ['column.health', ({ health }) => health ?? 'unknown'],
  ['csv.since', ({ since }) => since?.toISOString() ?? null],
  ['column.extensions', extensionsOf],
  ['csv.agent', ({ agent }) => agent ?? 'never'],
  ['csv.agentVersion', ({ agentVersion }) => agentVersion],
  ['column.lastSeen', ({ lastSeenAt }) => lastSeenAt?.toISOString() ?? null],
  [
    'column.tags',
    ({ tags }) =>
      Object.entries(tags)
        .map(([name, value]) => `${name}=${value}`)
        .join('; '),
  ],
  ['column.goalState', ({ goalState }) => goalState],
  ['column.system', ({ os }) => [os?.name, os?.version, os?.arch].filter(Boolean).join(' ') || null],
  ['csv.clockSkew', ({ clockSkewSeconds }) => clockSkewSeconds],
  ['csv.created', ({ createdAt }) => createdAt.toISOString()],
];

/** `mount Contoso.Ops.Mount 2.4.0.0 failed (1215)`, with the version that runs where one was reported. */
function extensionsOf({ extensions }: ExportedVm): string {
  return extensions
    .map(({ name, handler, version, goalVersion, health, messageId }) =>
      [name, handler, version ?? goalVersion, health, messageId && `(${messageId})`].filter(Boolean).join(' '),
    )
    .join('; ');
}

const asked = fleetQuery.extend({ lang: z.string().max(100).optional() });

/** The VMs that match as a file, a line each; the head of the table in the language `lang`. */
export async function* fleetLines(
  ctx: Context,
  query: URLSearchParams,
  form: 'csv' | 'jsonl',
): AsyncGenerator<string, void> {
  const given = Object.fromEntries([...query].filter(([name, value]) => name !== 'tag' && value !== ''));
  const tag = query.getAll('tag');
  const { lang, ...filter } = parse(asked, tag.length === 0 ? given : { ...given, tag }, 'bad_request');
  const pages = await exportFleet(ctx, filterOf(filter));
  if (form === 'csv')
    yield csvLine(columns.map(([word]) => translate(languageFor({ chosenLanguage: lang }), 'vms', word)));
  for await (const page of pages) {
    yield page
      .map((vm) => (form === 'csv' ? csvLine(columns.map(([, cell]) => cell(vm))) : `${JSON.stringify(vm)}\n`))
      .join('');
  }
}
