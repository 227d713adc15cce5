import { join } from 'node:path';
import next from 'next';
import { openSignIn } from '#server/auth/index.ts';
import { openLive } from '#server/live/index.ts';
import { createReadyz, healthz } from '#server/process/health.ts';
import { type HttpRoute, serve } from '#server/process/http.ts';
import { runProcess } from '#server/process/run.ts';
import { openDoors } from './doors.ts';
import { pageHeaders } from './page-headers.ts';
import { pagePath } from './page-path.ts';
import { providePortalRuntime } from './runtime.ts';
import { createSecurityTxt } from './security-txt.ts';

const root = join(import.meta.dirname, '..', '..');

await runProcess('portal', async (services) => {
  const { config, log } = services;
  const live = openLive(services.wakes, services.config.limits.streams);
  const signIn = openSignIn(services, log);
  const door = { services, live, signIn, log };
  providePortalRuntime(door);

  const pages = next({ dev: config.development, dir: root, hostname: config.host, port: config.port });
  await pages.prepare();
  const page = pages.getRequestHandler();

  const doors = openDoors(services, live, signIn);
  const exact = new Map<string, HttpRoute>([
    ['/healthz', { core: healthz }],
    ['/readyz', { core: createReadyz(services) }],
  ]);
  if (config.securityContacts.length > 0) exact.set('/.well-known/security.txt', { core: createSecurityTxt(config) });

  const serving = await serve({
    host: config.host,
    port: config.port,
    trustProxy: config.trustProxy,
    limits: config.limits,
    log,
    // During development, pages receive code changes over a WebSocket, which Next.js accepts on this server.
    upgrades: (path) => config.development && path === '/_next/hmr',
    route(path) {
      return doors.route(path) ?? exact.get(path) ?? null;
    },
    fallback(request, response) {
      request.url = pagePath(request.url ?? '/');
      // Passes the path in a header, because the sign-in page needs it and Next.js does not pass it to layouts. If the
      // client sent this header, its value is overwritten.
      request.headers['x-annex-path'] = request.url;
      // Reads the position before the page reads data, because the page's live connection continues from this position.
      request.headers['x-annex-live'] = live.position();
      const { policy, headers } = pageHeaders(config);
      request.headers['content-security-policy'] = policy;
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      return page(request, response);
    },
  });
  return async () => {
    await serving.close();
    await doors.close();
    await live.close();
    await pages.close();
  };
});
