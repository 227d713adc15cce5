import { z } from 'zod';
import type { Context } from '#server/domain/context.ts';
import { type ExportedVm, exportFleet } from '#server/domain/views/index.ts';
import { languageFor, reasonInWords, translate } from '#server/i18n/index.ts';
import { csvLine } from './csv.ts';
import { filterOf, fleetQuery, repeatedOf } from './fleet-query.ts';
import { parseQuery } from './read-request.ts';

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
  ['column.reason', ({ reason }) => reason?.text ?? null],
  ['csv.reason.extension', ({ reason }) => reason?.extension ?? null],
  ['csv.reason.cause', ({ reason }) => reason?.cause ?? null],
  ['csv.reason.exitCode', ({ reason }) => reason?.exitCode ?? null],
  ['csv.reason.messageId', ({ reason }) => reason?.messageId ?? null],
];

/**
 * Describes a VM's extensions, for example `mount Contoso.Ops.Mount 2.4.0.0 failed (1215)`. The version is the reported
 * version or, without a report, the goal's version.
 */
function extensionsOf({ extensions }: ExportedVm): string {
  return extensions
    .map(({ name, handler, version, goalVersion, health, messageId }) =>
      [name, handler, version ?? goalVersion, health, messageId && `(${messageId})`].filter(Boolean).join(' '),
    )
    .join('; ');
}

/**
 * Yields the matching VMs in chunks of lines, one line per VM. The CSV header and the reasons are in the language of
 * the query parameter `lang`.
 */
export async function* fleetLines(
  ctx: Context,
  query: URLSearchParams,
  form: 'csv' | 'jsonl',
): AsyncGenerator<string, void> {
  const fields = ctx.fleetFields;
  const { shape } = fleetQuery(fields);
  const schema = z.object({ ...shape, lang: z.string().max(100).optional() });
  const { lang, ...filter }: { lang?: string } = parseQuery(schema, query, repeatedOf(fields));
  const reader = { chosenLanguage: lang };
  const language = languageFor(reader);
  const pages = await exportFleet(ctx, filterOf(fields, filter), reader);
  if (form === 'csv') yield csvLine(columns.map(([word]) => translate(language, 'vms', word)));
  for await (const page of pages) {
    yield page
      .map((vm) => ({ ...vm, reason: reasonInWords(vm.reason, language) }))
      .map((vm) => (form === 'csv' ? csvLine(columns.map(([, cell]) => cell(vm))) : `${JSON.stringify(vm)}\n`))
      .join('');
  }
}
