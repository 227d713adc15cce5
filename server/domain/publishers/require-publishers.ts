import { inArray } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { publishers } from '#db/schema/index.ts';
import { DomainError } from '#server/domain/error.ts';

/**
 * Throws 422 with the fault `namespace_unknown` at `/namespaces/{index}` for each namespace that has no publisher. Does
 * not check the namespaces in `except`.
 */
export async function requirePublishers(
  tx: Transaction,
  namespaces: readonly string[],
  except: readonly string[] = [],
): Promise<void> {
  const rows = await tx
    .select({ namespace: publishers.namespace })
    .from(publishers)
    .where(inArray(publishers.namespace, [...namespaces]));
  const known = new Set([...rows.map((row) => row.namespace), ...except]);
  const faults = namespaces.flatMap((namespace, index) =>
    known.has(namespace) ? [] : [{ path: `/namespaces/${index}`, code: 'namespace_unknown' as const }],
  );
  if (faults.length > 0) throw new DomainError('unprocessable', 'invalid', { faults });
}
