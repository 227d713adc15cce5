import { DomainError } from '#server/domain/error.ts';

/** Converts a unique violation on a VM's name into 409 `vm_name_taken`. */
export async function rejectTakenName<T>(name: string, write: Promise<T>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    if (isUniqueViolation(cause, 'vms_name')) {
      throw new DomainError('conflict', 'vm_name_taken', { params: { name }, cause: error });
    }
    throw error;
  }
}

function isUniqueViolation(error: unknown, constraint: string): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { code, constraint: named } = error as { code?: unknown; constraint?: unknown };
  return code === '23505' && named === constraint;
}
