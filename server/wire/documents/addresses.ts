/** The host that the stock agent calls. The VM's forwarder redirects its requests to the portal. */
const host = 'http://168.63.129.16';

const config = (containerId: string, what: string, incarnation: number): string =>
  `${host}/machine/${containerId}/${what}?incarnation=${incarnation}`;

/** The URLs in the documents. */
export const addresses = {
  hostingEnvironment: (containerId: string, incarnation: number) =>
    config(containerId, 'hosting-environment-config', incarnation),
  sharedConfig: (containerId: string, incarnation: number) => config(containerId, 'shared-config', incarnation),
  extensionsConfig: (containerId: string, incarnation: number) => config(containerId, 'extensions-config', incarnation),
  artifactsProfile: (containerId: string, incarnation: number) => config(containerId, 'artifacts-profile', incarnation),
  certificates: (containerId: string, incarnation: number) => config(containerId, 'certificates', incarnation),
  manifest: (handler: string) => `${host}/packages/${handler}/manifest.xml`,
  package: (sha256: string) => `${host}/packages/${sha256}.zip`,
  status: (containerId: string, secret: string) => `${host}/status/${containerId}?sig=${secret}`,
} as const;

/** Returns the path and the query of a URL on this host; null for any other URL. */
export function pathOfAddress(address: string): { path: string; query: string } | null {
  if (!URL.canParse(address)) return null;
  const { origin, pathname, search } = new URL(address);
  return origin === host ? { path: pathname, query: search.slice(1) } : null;
}
