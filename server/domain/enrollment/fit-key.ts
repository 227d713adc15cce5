import { and, eq, ne } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { agents } from '#db/schema/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { readSealingCertificate, type SealingCertificate } from '#server/platform/cms.ts';

/** Parses a certificate and requires that it can encrypt protected settings. Throws 422 `certificate_unfit`. */
export function requireFit(pem: string): SealingCertificate {
  const certificate = readSealingCertificate(pem);
  if (certificate !== null) return certificate;
  throw new DomainError('unprocessable', 'certificate_unfit', {
    faults: [{ path: '/certificate', code: 'certificate_unfit' }],
  });
}

/** Rejects a key that another VM uses. Throws 409 `key_in_use`. */
export async function rejectKeyOfOtherVm(
  tx: Transaction,
  vmId: string,
  certificate: SealingCertificate,
): Promise<void> {
  const [other] = await tx
    .select({ vmId: agents.vmId })
    .from(agents)
    .where(and(eq(agents.keyHash, certificate.keyHash), ne(agents.vmId, vmId)));
  if (other) throw new DomainError('conflict', 'key_in_use');
}

/**
 * Throws 409 `key_in_use` if the error is the unique violation that occurs when another machine stores the same key
 * between the check and the write. Rethrows any other error.
 */
export function rejectTakenKey(error: unknown): never {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const { code, constraint } = (cause ?? {}) as { code?: unknown; constraint?: unknown };
  if (code === '23505' && constraint === 'agents_key') {
    throw new DomainError('conflict', 'key_in_use', { cause: error });
  }
  throw error;
}
