import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { ChainFault } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { canonicalJson } from '#server/platform/canonical-json.ts';
import { keyedDigest } from '#server/platform/keys.ts';
import { endAdoption } from './adoption.ts';

/** The file with the kept head. It is in DATA_DIR, so write access to the database is not enough to change it. */
export const keptHeadFile = 'activity-head.json';

/**
 * A fault that an administrator accepted, and a keyed digest of its row at the time of the acceptance; `row` is null
 * for a fault without a row.
 */
export type AcceptedFault = ChainFault & { row: string | null };

const faultKinds = ['deleted', 'altered', 'inserted', 'replayed', 'truncated', 'relinked'] as const;

const document = z.object({
  position: z.number().int().min(0),
  hash: z.string(),
  at: z.string(),
  accepted: z.object({ at: z.string(), faults: z.array(z.custom<AcceptedFault>(isFault)) }).nullable(),
});

function isFault(value: unknown): boolean {
  return faultKinds.some((kind) => kind === (value as Partial<ChainFault> | null)?.kind);
}

/** The head of the chain as this machine last saw it, and the faults that an administrator accepted. */
export type KeptHead = z.infer<typeof document>;

type Home = Pick<Services, 'keys'> & { config: Pick<Services['config'], 'dataDir'> };

const digestOf = (keys: Services['keys'], kept: KeptHead): string =>
  keyedDigest(keys.audit, 'kept-head', canonicalJson(kept)).toString('base64url');

/** Reads the kept head; null if the file does not exist. Throws if this portal did not write it. */
export async function readKeptHead({ keys, config }: Home): Promise<KeptHead | null> {
  const path = join(config.dataDir, keptHeadFile);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  const { digest, ...rest } = JSON.parse(text) as { digest?: unknown };
  const kept = document.safeParse(rest);
  if (!kept.success || digest !== digestOf(keys, kept.data)) {
    throw new Error(
      `${path} was not written by this portal. If npm run change-secret-key was interrupted, run it again with the same keys. Otherwise restore the file from a backup, or run npm run accept-activity.`,
    );
  }
  return kept.data;
}

/**
 * Replaces the file, and ends the adoption of rows of the first release. A crash leaves either the complete old file or
 * the complete new file.
 */
export async function writeKeptHead({ keys, config }: Home, kept: KeptHead): Promise<void> {
  const path = join(config.dataDir, keptHeadFile);
  await mkdir(config.dataDir, { recursive: true, mode: 0o711 });
  const file = await open(`${path}.new`, 'w', 0o600);
  try {
    await file.writeFile(`${JSON.stringify({ ...kept, digest: digestOf(keys, kept) })}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
  await endAdoption({ config });
}
