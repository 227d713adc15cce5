import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { type Anchor, readKeptHead, verifyActivity } from '#server/domain/audit/index.ts';
import type { AnchorTarget } from '#server/platform/anchors.ts';
import { describeFault, withActivity } from './open-activity.ts';
import { readFlags } from './read-flags.ts';

const usage = `Verifies the activity log: that no entry was deleted, altered, inserted, replayed or relinked, and that none is missing at the end.

  npm run verify-activity [-- --anchor <number>:<hash>]
      --anchor: a head of the chain that was stored elsewhere and must be in the chain; can be repeated

Reads the database (DATABASE_URL, or the embedded one in DATA_DIR while Annex is running), the secret key, the head that
the worker stores in DATA_DIR, and the files of ANNEX_AUDIT_ANCHORS.
Exits with 0 if the log is valid, 1 if it is not, and 2 if it could not be checked.`;

const line = z.object({ at: z.string(), position: z.number().int(), hash: z.string() });

async function readAnchors(targets: readonly AnchorTarget[]): Promise<Anchor[]> {
  const files = targets.flatMap((target) => (target.kind === 'file' ? [target.path] : []));
  const texts = await Promise.all(files.map((path) => readFile(path, 'utf8')));
  return texts.flatMap((text) =>
    text.split('\n').flatMap((row) => (row.trim() === '' ? [] : [line.parse(JSON.parse(row))])),
  );
}

function parseAnchor(text: string): Anchor {
  const match = /^(\d{1,15}):([0-9a-f]{64})$/i.exec(text.trim());
  if (match === null) throw new Error(`--anchor must be <number>:<hash>, not ${text}`);
  return { position: Number(match[1]), hash: (match[2] ?? '').toLowerCase(), at: null };
}

async function main(): Promise<number> {
  const values = readFlags(usage, { options: { anchor: { type: 'string', multiple: true } } });
  const given = (values.anchor ?? []).map(parseAnchor);
  return withActivity(async (services) => {
    const kept = await readKeptHead(services);
    const anchors = [...(await readAnchors(services.config.auditAnchors)), ...given];
    const verdict = await verifyActivity(services, kept, anchors);
    const [first, ...more] = verdict.faults;
    console.log(`${verdict.numbered} entries, ${anchors.length} anchors.`);
    console.log(first === undefined ? 'The chain is valid.' : `BROKEN  ${describeFault(first)}`);
    for (const fault of more.slice(0, 4)) console.log(`        ${describeFault(fault)}`);
    if (more.length > 4) console.log(`        and ${more.length - 4} more`);
    if (verdict.accepted > 0) console.log(`Accepted by an admin: ${verdict.accepted} errors.`);
    if (verdict.formerAnchors > 0) console.log(`Earlier anchors, not in the chain: ${verdict.formerAnchors}.`);
    if (kept === null)
      console.log(`DATA_DIR has no head of the chain, so entries missing at its end cannot be detected.`);
    if (verdict.head) console.log(`The chain ends at ${verdict.head.position}:${verdict.head.hash}`);
    return first === undefined ? 0 : 1;
  });
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(`Not checked: ${error instanceof Error ? error.message : 'unknown error'}`);
    process.exitCode = 2;
  },
);
