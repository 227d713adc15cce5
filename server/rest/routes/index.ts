import type { FleetFields } from '#server/domain/fleet-field.ts';
import { allFleetFields } from '#server/domain/views/fleet-fields.ts';
import type { RestRoute } from '../route.ts';
import { activityRoutes } from './activity.ts';
import { attentionRoutes } from './attention.ts';
import { cloudServiceRoutes } from './cloud-services.ts';
import { executionRuleRoutes } from './execution-rules.ts';
import { executionRoutes } from './executions.ts';
import { formulaRoutes, handlerPackageRoutes, onlyKind } from './formulas.ts';
import { goalStateRoutes } from './goal-states.ts';
import { holdRoutes } from './holds.ts';
import { logRoutes } from './logs.ts';
import { machineRoutes } from './machines.ts';
import { memberRoutes } from './members.ts';
import { documentRoutes } from './model-documents.ts';
import { modelRoutes } from './models.ts';
import { publisherRoutes } from './publishers.ts';
import { relationRoutes } from './relations.ts';
import { rolloutActRoutes } from './rollout-acts.ts';
import { rolloutReadRoutes } from './rollout-reads.ts';
import { rolloutRuleRoutes } from './rollout-rules.ts';
import { rolloutRoutes } from './rollouts.ts';
import { runbookFileRoutes } from './runbook-files.ts';
import { runbookRoutes } from './runbooks.ts';
import { serviceRoutes } from './services.ts';
import { tokenRoutes } from './tokens.ts';
import { topologyRoutes } from './topology.ts';
import { unitRunRoutes } from './unit-runs.ts';
import { unitRoutes } from './units.ts';
import { viewRoutes } from './views.ts';
import { vmListRoute, vmRoutes } from './vms.ts';
import { wireAccessRoutes } from './wire-access.ts';

/** Returns the routes of the management API. VM lists have a query parameter for each of these filter fields. */
export const routesFor = (fields: FleetFields): readonly RestRoute[] => [
  ...publisherRoutes,
  ...handlerPackageRoutes,
  ...formulaRoutes,
  ...vmRoutes,
  vmListRoute(fields),
  ...holdRoutes,
  ...wireAccessRoutes,
  ...goalStateRoutes,
  ...executionRoutes,
  ...runbookFileRoutes,
  ...executionRuleRoutes,
  ...runbookRoutes,
  ...rolloutRoutes,
  ...rolloutReadRoutes.map((one) => onlyKind('handler', one)),
  ...rolloutActRoutes,
  ...rolloutRuleRoutes,
  ...modelRoutes,
  ...documentRoutes,
  ...machineRoutes,
  ...topologyRoutes,
  ...cloudServiceRoutes,
  ...serviceRoutes,
  ...unitRoutes,
  ...unitRunRoutes,
  ...relationRoutes,
  ...viewRoutes,
  ...attentionRoutes,
  ...logRoutes,
  ...memberRoutes,
  ...tokenRoutes,
  ...activityRoutes,
];

/** The routes with the default filter fields. */
export const routes = routesFor(allFleetFields);
