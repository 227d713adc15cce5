import { DomainError, type Fault } from '#server/domain/error.ts';
import { parseJson } from '#server/platform/json.ts';
import { formatYaml, parseYaml } from '#server/platform/yaml.ts';
import type { ModelDocument } from './schema.ts';

/**
 * Parses the text of a document, in YAML or JSON. Throws 422 `document_unreadable` with every fault and its position.
 */
export function readDocumentText(bytes: Uint8Array, maxDepth: number): unknown {
  // JSON is YAML too, but its parser is several times faster.
  if (/^\s*\{/.test(Buffer.from(bytes.subarray(0, 100)).toString())) {
    const { value, fault } = parseJson(bytes, { maxDepth });
    if (fault === null) return value;
    if (fault.code !== 'json_malformed') throw unreadable([fault]);
  }
  const read = parseYaml(bytes, { maxDepth });
  if ('faults' in read) throw unreadable(read.faults);
  return read.value;
}

const unreadable = (faults: readonly Fault[]): DomainError =>
  new DomainError('unprocessable', 'document_unreadable', { faults });

/** Returns a document as YAML. Both endpoints of a relation are on one line. */
export const formatDocument = (document: ModelDocument): string =>
  formatYaml(document, ([parent]) => parent === 'relations');
