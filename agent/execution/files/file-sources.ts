import type { Portal } from '../../portal/portal.ts';
import type { PortalRoute } from '../../portal/route.ts';
import type { FileSources } from './plan-files.ts';
import { openUriRoute } from './uri-route.ts';

/** The machine's settings for files of execution plans. */
export interface FileSettings {
  /** Hosts in private networks from which plans may fetch files: names, addresses or networks, separated by commas. */
  planPrivateHosts?: string;
  /** Size of the cache for files that plans fetch, in MiB; by default 1,024. */
  planCacheMegabytes?: number;
  /** How this machine reaches hosts other than the portal; by default, directly. */
  route?: PortalRoute;
}

/** Returns where files of execution plans are fetched from. `portal`: null if the machine is not enrolled. */
export function openFileSources(
  { route = { environment: {} }, planPrivateHosts = '', planCacheMegabytes }: FileSettings,
  portal: Portal | null,
): FileSources {
  return {
    route: openUriRoute(route, planPrivateHosts.split(',').filter(Boolean)),
    download: portal === null ? null : (...download) => portal.downloadPackage(...download),
    ...(planCacheMegabytes !== undefined && { cacheBytes: planCacheMegabytes * 1024 * 1024 }),
  };
}
