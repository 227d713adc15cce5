import { noteVisit, readSession } from '#server/auth/index.ts';
import { type Actor, hasScripts } from '#server/domain/actor.ts';
import { createPageCaller, type TrpcDoor } from '#server/trpc/door.ts';
import type { AppCaller } from '#server/trpc/root.ts';

/** The part of the configuration that pages may show. */
export interface PublicConfig {
  url: string;
  gatewayUrl: string;
  limits: { packageBytes: number; settingsBytes: number; resourceFileBytes: number };
}

/** What the portal provides to the pages that it renders in this process. */
export interface PortalRuntime {
  /** Returns the read-only procedures. They run as the user whose session these headers contain. */
  caller(headers: Headers): Promise<AppCaller>;
  /**
   * Returns the user whose session these headers contain, and records the visit; null without a session. `scripts` is
   * whether the user has the rights of the grant `scripts`.
   */
  session(headers: Headers): Promise<(Actor & { scripts: boolean }) | null>;
  config: PublicConfig;
}

/** Key of the global that contains the runtime. Pages are bundled, so they cannot import it. */
export const portalRuntimeKey = Symbol.for('annex.portal');

/** Creates the runtime and stores it for the pages. */
export function providePortalRuntime(door: TrpcDoor): PortalRuntime {
  const { services } = door;
  const { limits, url, gatewayUrl } = services.config;
  const runtime: PortalRuntime = {
    caller: async (headers) => createPageCaller(door, headers),
    async session(headers) {
      const now = new Date();
      const actor = (await readSession(services, headers, now))?.actor ?? null;
      if (actor === null) return null;
      await noteVisit(services, actor.id, now);
      return { ...actor, scripts: hasScripts(actor) };
    },
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
