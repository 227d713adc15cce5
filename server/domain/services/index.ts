export { addUnits, newUnit } from './add-units.ts';
export { appliedDocument, applyDocument } from './document/apply-document.ts';
export { getDocument } from './document/get-document.ts';
export { planDocument } from './document/plan-document.ts';
export { documentPlan } from './document/plan-view.ts';
export { documentLimits, type ModelDocument } from './document/schema.ts';
export { formatDocument } from './document/text.ts';
export { countVmsByFormula, unitOfField } from './fleet-fields.ts';
export { countUnits, type UnitCounts } from './health/count-units.ts';
export { type EvaluatedUnit, readUnitConcerns, readUnitHealth } from './health/read-unit-health.ts';
export { destroyModel, removeMachine } from './machines-with-units.ts';
export {
  addRelation,
  clearRelationEvents,
  getRelation,
  getRelationSettings,
  listNodes,
  listRelationEvents,
  listRelations,
  listSeen,
  nodeReaders,
  readNode,
  relation,
  relationEvents,
  relationNodes,
  relationSettings,
  removeRelation,
  resealRelations,
  revealedNode,
  revealNode,
  unitsChannel,
} from './relations/index.ts';
export { addRelationInput, relationSettingsInput } from './relations/input.ts';
export { releasedUnits, releaseServiceSecrets, releaseUnitSecrets } from './release/release-unit-secrets.ts';
export { unitNeedsRelease } from './release/unit-needs-release.ts';
export { removeService } from './remove-service.ts';
export { removeUnit } from './remove-unit.ts';
export { resolvedHooks, resolveModel, resolveUnit } from './resolve-unit.ts';
export { beginRun } from './runs/begin-run.ts';
export { clearRuns } from './runs/clear-runs.ts';
export { downloadRunOutput } from './runs/download-run-output.ts';
export { endRun } from './runs/end-run.ts';
export { dueHook, getDue } from './runs/get-due.ts';
export { getRun, hookRunDetails } from './runs/get-run.ts';
export { listRuns, readRunOutput } from './runs/list-runs.ts';
export { filterRunLog, readRunLog, searchRunLog } from './runs/read-run-log.ts';
export { receiveRunLog } from './runs/receive-run-log.ts';
export { confirmRemoval } from './runs/remove-unit.ts';
export { type HookRun, hookRun, runOf, selectRuns } from './runs/shown-run.ts';
export { skipHooks } from './runs/skip-hooks.ts';
export { getService, listedService, listServices, service } from './service-view.ts';
export { setService } from './set-service.ts';
export { resealServiceSettings } from './settings/reseal-settings.ts';
export { planSwap, swap } from './staging/swap-units.ts';
export { findFormulaPackage } from './unit-state/find-formula-package.ts';
export { getUnitSettings } from './unit-state/get-unit-settings.ts';
export { getUnitState } from './unit-state/get-unit-state.ts';
export { connectUnit, unitConnection } from './units/connect-unit.ts';
export { mendUnits } from './units/mend-units.ts';
export { replaceLostUnits } from './units/replace-units.ts';
export { listUnitRelations } from './units/unit-relations.ts';
export { getUnit, unit } from './units/unit-view.ts';
export { listUnitsOfVm } from './units/units-of-vm.ts';
