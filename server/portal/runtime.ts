import { readSession } from '#server/auth/index.ts';
import type { Actor } from '#server/domain/actor.ts';
import { createPageCaller, type TrpcDoor } from '#server/trpc/door.ts';
import type { AppCaller } from '#server/trpc/root.ts';

/** Configuration that pages may show. */
export interface PublicConfig {
  url: string;
  gatewayUrl: string;
  limits: { packageBytes: number; settingsBytes: number; resourceFileBytes: number };
}

/** What pages that are rendered in the portal's process may ask of it. */
export interface PortalRuntime {
  /** Procedures as who is signed in by these headers; for reading. */
  caller(headers: Headers): Promise<AppCaller>;
  /** Who is signed in; null for nobody. */
  session(headers: Headers): Promise<Actor | null>;
  config: PublicConfig;
}

/** Where pages find it: they are bundled, so that they cannot import it. */
export const portalRuntimeKey = Symbol.for('annex.portal');

/** Makes the runtime and puts it where pages find it. */
export function providePortalRuntime(door: TrpcDoor): PortalRuntime {
  const { services } = door;
  const { limits, url, gatewayUrl } = services.config;
  const runtime: PortalRuntime = {
    caller: async (headers) => createPageCaller(door, headers),
    session: async (headers) => (await readSession(services, headers, new Date()))?.actor ?? null,
    config: {
      url,
      gatewayUrl,
      limits: {
        packageBytes: limits.package.packedBytes,
        settingsBytes: limits.settings.halfBytes,
        resourceFileBytes: limits.resources.fileBytes,
      },
    },
  };
  Object.defineProperty(globalThis, portalRuntimeKey, { value: runtime, configurable: true });
  return runtime;
}
