import { join } from 'node:path';
import { openDatabase } from '#db/client.ts';
import type { ChainFault } from '#db/schema/index.ts';
import { installation } from '#db/schema/index.ts';
import { findAnchor, verifyActivity } from '#server/domain/audit/index.ts';
import { loadConfig } from '#server/platform/env.ts';
import { deriveKeys } from '#server/platform/keys.ts';
import { runningPostgres } from '#server/platform/postgres.ts';
import { existingKey } from '#server/platform/secret-key.ts';
import { openPool } from '#server/process/services.ts';
import { readFlags } from './read-flags.ts';

const usage = `Proves that no act was altered, removed, added or moved since it was linked.

  npm run verify-activity [-- --anchor <hash>]
      --anchor: the end of the chain as it was printed earlier and kept elsewhere; must still be in the chain

Reads the database of DATABASE_URL, or the embedded one in DATA_DIR while Annex runs, and the secret key.
Ends with 0 where everything holds, 1 where not, 2 where it could not be checked.`;

const meaning: Readonly<Record<ChainFault['kind'], string>> = {
  removed: 'the row after it was removed',
  altered: 'its content is not what the portal wrote',
  foreign: 'the portal did not write it',
  moved: 'it does not stand where it was linked',
  cut: 'the chain was longer, or another, once: rows at its end were removed',
};

function sentence({ kind, id, position }: ChainFault): string {
  const place = position === null ? 'not linked yet' : `place ${position}`;
  return id === null ? `Anchor at ${place}: ${meaning[kind]}.` : `Act ${id} (${place}): ${meaning[kind]}.`;
}

async function main(): Promise<number> {
  const values = readFlags(usage, { options: { anchor: { type: 'string' } } });
  const config = loadConfig();
  const url = config.databaseUrl ?? (await runningPostgres(join(config.dataDir, 'postgres')));
  if (url === null)
    throw new Error(`no embedded database runs in ${config.dataDir}. Start Annex, or set DATABASE_URL.`);
  const pool = openPool(url, 'launcher');
  try {
    const db = openDatabase(pool);
    const keys = deriveKeys(await existingKey(config));
    const [known] = await db.select({ keyCheck: installation.keyCheck }).from(installation);
    if (known?.keyCheck !== keys.check) throw new Error('The secret key is not the one of this database.');

    const verdict = await verifyActivity({ db, keys });
    const [first, ...more] = verdict.faults;
    console.log(`${verdict.linked + verdict.unlinked} acts, ${verdict.unlinked} of them not linked yet.`);
    console.log(first === undefined ? 'The chain holds.' : `BROKEN  ${sentence(first)}`);
    for (const fault of more.slice(0, 4)) console.log(`        ${sentence(fault)}`);
    if (more.length > 4) console.log(`        and ${more.length - 4} more`);
    if (verdict.head) console.log(`It ends at ${verdict.head.position}:${verdict.head.hash}`);
    if (values.anchor === undefined) return first === undefined ? 0 : 1;
    const place = await findAnchor({ db }, values.anchor);
    console.log(
      place === null
        ? 'BROKEN  The chain does not hold the anchor: rows at its end were removed, or all were written anew.'
        : `It holds the anchor, at place ${place}.`,
    );
    return first === undefined && place !== null ? 0 : 1;
  } finally {
    await pool.end();
  }
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
