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

/** The portal's interface for pages rendered in its process. */
export interface PortalRuntime {
  /** Procedures as the person of these headers, read only. */
  caller(headers: Headers): Promise<AppCaller>;
  /** The signed-in person; null without one. */
  session(headers: Headers): Promise<Actor | null>;
  config: PublicConfig;
}

/** Global under which pages find it: they are bundled, so they cannot import it. */
export const portalRuntimeKey = Symbol.for('annex.portal');

/** Creates the runtime and publishes it for the pages. */
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
