import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseVersion, type UnitGoal, unitFolderName } from '#protocol/index.ts';
import { AgentError, sentenceOf } from '../agent-error.ts';
import type { AgentLayout } from '../folder/layout.ts';
import { discard, isDiskFull, replace } from '../folder/write-file.ts';
import { downloadPackage } from '../handler/download-package.ts';
import { discardRoot } from '../handler/folders.ts';
import { unpack } from '../handler/unpack.ts';
import type { Portal } from '../portal/portal.ts';

/**
 * Downloads the package of a unit's formula, checks its digest, and unpacks it into `root`, which appears complete or
 * not at all. Throws AgentError if the package itself is invalid; any other error may be temporary.
 */
export async function fetchFormula(
  layout: AgentLayout,
  portal: Pick<Portal, 'downloadPackage'>,
  { unit, formula }: Pick<UnitGoal, 'unit' | 'formula'>,
  root: string,
  signal: AbortSignal,
): Promise<void> {
  const { id, version, package: wanted } = formula;
  // The version becomes the name of a folder.
  if (parseVersion(version) === null) throw new AgentError(`The version of the formula ${id} is not a version.`);
  await mkdir(layout.incoming, { recursive: true, mode: 0o700 });
  const name = `${unitFolderName(unit)}-${version}.${wanted.sha256}`;
  const zip = join(layout.incoming, `${name}.zip`);
  const fresh = join(layout.incoming, `${name}.root`);
  await downloadPackage(portal, { what: `${id} ${version}`, package: wanted }, zip, signal);
  discard(fresh);
  try {
    await mkdir(fresh, { recursive: true, mode: 0o755 });
    await unpackFormula(zip, fresh);
    await mkdir(join(root, '..'), { recursive: true, mode: 0o755 });
    discardRoot(layout, root);
    replace(fresh, root);
  } finally {
    discard(fresh);
    discard(zip);
  }
}

async function unpackFormula(zip: string, folder: string): Promise<void> {
  try {
    await unpack(zip, folder);
  } catch (error) {
    if (isDiskFull(error)) throw error;
    throw new AgentError(`The formula cannot be unpacked: ${sentenceOf(error)}. Publish a corrected version.`);
  }
}
