import { notFound } from 'next/navigation';

/** Returns the code of an error that a procedure threw in a server component; empty for any other error. */
export function codeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return typeof cause === 'object' && cause !== null && 'code' in cause && typeof cause.code === 'string'
    ? cause.code
    : '';
}

/** Awaits the object that a page is about, and shows "Page not found" if the portal does not know the object. */
export async function orNotFound<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (isNotFound(error)) notFound();
    throw error;
  }
}

/**
 * Compares the kind, not the class: the portal runs outside the bundle, so its classes differ from those in the bundle.
 */
function isNotFound(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return typeof cause === 'object' && cause !== null && 'kind' in cause && cause.kind === 'not_found';
}
