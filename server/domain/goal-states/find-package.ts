import { and, eq } from 'drizzle-orm';
import type { Database } from '#db/client.ts';
import { extensions, handlerVersions } from '#db/schema/index.ts';

/** Returns the size in bytes of a package that the VM's goal state names; null for any other package. */
export async function findPackageOfVm(db: Database, vmId: string, sha256: string): Promise<number | null> {
  const [row] = await db
    .select({ size: handlerVersions.size })
    .from(extensions)
    .innerJoin(
      handlerVersions,
      and(eq(handlerVersions.handler, extensions.handler), eq(handlerVersions.version, extensions.version)),
    )
    .where(and(eq(extensions.vmId, vmId), eq(handlerVersions.sha256, sha256)))
    .limit(1);
  return row?.size ?? null;
}
