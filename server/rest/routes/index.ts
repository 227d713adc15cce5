import type { Route } from '../route.ts';
import { goalStateRoutes } from './goal-states.ts';
import { handlerRoutes } from './handlers.ts';
import { logRoutes } from './logs.ts';
import { publisherRoutes } from './publishers.ts';
import { resourceRoutes } from './resources.ts';
import { tokenRoutes } from './tokens.ts';
import { versionRoutes } from './versions.ts';
import { viewRoutes } from './views.ts';
import { vmRoutes } from './vms.ts';
import { wireAccessRoutes } from './wire-access.ts';
import { xliffRoutes } from './xliff.ts';

/** Every call of the management door. */
export const routes: readonly Route[] = [
  ...publisherRoutes,
  ...handlerRoutes,
  ...versionRoutes,
  // Before those of any language: the ending tells them apart.
  ...xliffRoutes,
  ...resourceRoutes,
  ...vmRoutes,
  ...wireAccessRoutes,
  ...goalStateRoutes,
  ...viewRoutes,
  ...logRoutes,
  ...tokenRoutes,
];
