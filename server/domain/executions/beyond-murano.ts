import compareVersions from 'semver/functions/compare.js';
import { formatOf } from '#protocol/executions/index.ts';
import { jsonPointer } from '#protocol/pointer.ts';
import type { ErrorCode, Fault } from '#server/domain/error.ts';

/**
 * The newest format that the Murano agent runs, and the first format in which it has executors other than Application.
 */
const newestFormat = '2.2.0';
const executorsSince = '2.1.0';

interface Plan {
  FormatVersion?: string;
  Scripts?: Record<string, { Type: string; EntryPoint: string }>;
  Files?: Record<string, { BodyType: string; Body: string }>;
}

/**
 * Returns what the Murano agent of a VM would reject in a plan that is valid for Annex (MU-64). Plans in format
 * vCurrent have no faults, because only Murano's agent for Windows gets them.
 */
export function beyondMurano(plan: Plan): Fault[] {
  if (formatOf(plan) === 'v-current') return [];
  const { FormatVersion: format = '', Scripts: scripts = {}, Files: files = {} } = plan;
  const faults: Fault[] = [];
  const add = (path: string[], code: ErrorCode, params?: Fault['params']) =>
    faults.push({ path: jsonPointer(path), code, ...(params && { params }) });
  if (compareVersions(format, newestFormat) > 0) add(['FormatVersion'], 'murano_format', { newest: newestFormat });
  const types = compareVersions(format, executorsSince) < 0 ? ['Application'] : ['Application', 'Chef', 'Puppet'];
  for (const [name, { Type: type, EntryPoint: entry }] of Object.entries(scripts)) {
    const at = ['Scripts', name];
    if (!types.includes(type)) add([...at, 'Type'], 'murano_type', { types: types.join(', ') });
    else if (type !== 'Application' && !entry.includes('::')) add([...at, 'EntryPoint'], 'murano_entry_point');
  }
  for (const [id, { BodyType: type, Body: body }] of Object.entries(files)) {
    if (type !== 'Text' && type !== 'Base64') add(['Files', id, 'BodyType'], 'murano_body_type');
    else if (type === 'Base64' && !isText(body)) add(['Files', id, 'Body'], 'murano_binary');
  }
  return faults;
}

/** Whether base64 contains UTF-8. The Murano agent decodes every file as text. */
function isText(base64: string): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(base64, 'base64'));
    return true;
  } catch {
    return false;
  }
}
