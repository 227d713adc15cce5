import { openConnections } from '../../portal/call.ts';
import { type PortalRoute, proxiesOf } from '../../portal/route.ts';
import type { UriRoute } from './fetch-uri.ts';
import type { PrivateHosts } from './guard-address.ts';

/** Returns the route to addresses in plans: through the proxy of the route to the portal, if there is one. */
export function openUriRoute(route: PortalRoute, privateHosts: PrivateHosts): UriRoute {
  const { HTTP_PROXY, HTTPS_PROXY, NO_PROXY = '' } = proxiesOf(route);
  const direct = openConnections({ ...(route.ca !== undefined && { ca: route.ca }), environment: {} });
  // Whether the proxy is used also determines who resolves the name, so this code decides it instead of Node.
  const proxied = openConnections({ ...route, directHosts: '' });
  const usesProxy = (url: URL): boolean =>
    Boolean(url.protocol === 'https:' ? HTTPS_PROXY : HTTP_PROXY) && !isDirect(url, NO_PROXY.split(','));
  return {
    privateHosts,
    usesProxy,
    connections: (url) => (usesProxy(url) ? proxied : direct)(url),
  };
}

/** Whether a host is in a list such as `NO_PROXY`: names, `.domain`, `*`, each with or without a port. */
function isDirect({ hostname, host, protocol, port }: URL, list: readonly string[]): boolean {
  const withPort = port === '' ? `${host}:${protocol === 'https:' ? 443 : 80}` : host;
  return list
    .map((entry) => entry.trim().toLowerCase())
    .filter(Boolean)
    .some((entry) => {
      if (entry === '*' || entry === hostname || entry === withPort) return true;
      const domain = entry.replace(/^\*/, '');
      return domain.startsWith('.') && (hostname.endsWith(domain) || withPort.endsWith(domain));
    });
}
