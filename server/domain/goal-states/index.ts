export { beginGoalStates, bindCertificate, unbindCertificate } from './begin.ts';
export { changeProtectedSettings, planProtectedSettings } from './change-protected-settings.ts';
export type { GoalStateChange } from './changes.ts';
export { compareGoalStates, type GoalStateComparison, previewRevert } from './compare-goal-states.ts';
export { completeRemoval, type Removal } from './complete-removal.ts';
export {
  deleteSecret,
  deleteSecretsSql,
  dropSealedCopies,
  findSecret,
  fingerprintOf,
  needsReleaseSql,
  needsSecretsSql,
  storeSecret,
  storeSecrets,
} from './custody.ts';
export { type FetchedGoalState, fetchGoalState } from './fetch-goal-state.ts';
export { findPackageOfVm } from './find-package.ts';
export { findRevertTarget } from './find-revert-target.ts';
export { getDeliveredGoalState } from './get-delivered-goal-state.ts';
export { type ExtensionView, extensionView, getExtension } from './get-extension.ts';
export { type GoalStateView, getGoalState, goalStateView } from './get-goal-state.ts';
export { autoUpgradeMinorVersion } from './goal.ts';
export { listGoalStateChanges, type PastChange } from './list-goal-state-changes.ts';
export { listGoalStates, type PastGoalState, pastGoalState } from './list-goal-states.ts';
export { applyMany } from './many/apply-many.ts';
export type {
  Applied,
  MemberChange,
  MemberRequest,
  PlannedTouch,
  Preview,
  TouchedExtension,
} from './many/change.ts';
export { lockFreeHeads, readLiveHeads } from './many/heads.ts';
export { newPreviewMemory, type PreviewMemory, previewMany } from './many/preview-many.ts';
export { type KeyOrigin, mayRelease } from './may-release.ts';
export { peekGoalState } from './peek-goal-state.ts';
export { type Plan, plan } from './plan.ts';
export { planExtension } from './plan-extension.ts';
export { installsInUpdate } from './plan-steps.ts';
export {
  type Cause,
  contentsOf,
  type ExtensionRow,
  goalStatesChannel,
  type Head,
  type LiveHead,
  lockHead,
  publishGoalState,
  requireIncarnation,
  takeTurn,
  takeTurns,
} from './publish.ts';
export { type ReleasedSecrets, releasedSecrets, releaseSecrets } from './release-secrets.ts';
export { planRemoval, type RemovalReceipt, removalReceipt, removeExtension } from './remove-extension.ts';
export { repeatExtension } from './repeat-extension.ts';
export { resealSecrets } from './reseal-secrets.ts';
export { retireGoalStates, uninstallAll } from './retire.ts';
export { planRevert, revertGoalState, revertReceipt } from './revert-goal-state.ts';
export { noteReportedSequence } from './sequence.ts';
export { type ExtensionReceipt, extensionReceipt, receiptOf, setExtension } from './set-extension.ts';
export { forgetDelivery, handOut, withhold } from './withhold.ts';
