import {
  changePassword,
  confirm,
  getAccount,
  renameAccount,
  setLanguage,
  startConfirmation,
} from '#server/auth/account/index.ts';
import {
  addPasskey,
  addTotp,
  removePasskey,
  removeTotp,
  renamePasskey,
  renewRecoveryCodes,
  startPasskey,
  startTotp,
} from '#server/auth/factors/index.ts';
import { endOtherSessions, endOwnSession, listOwnSessions } from '#server/auth/sessions/index.ts';
import { mutation, plainMutation, plainQuery, router } from '../trpc.ts';

/**
 * Calls that act on the caller's own account. All members may make them, even those who must still set up a second
 * factor.
 */
export const accountRouter = router({
  get: plainQuery(getAccount),
  rename: mutation(renameAccount),
  setLanguage: mutation(setLanguage),
  changePassword: mutation(changePassword),
  startConfirmation: plainMutation(startConfirmation),
  confirm: mutation(confirm),
  startPasskey: plainMutation(startPasskey),
  addPasskey: mutation(addPasskey),
  renamePasskey: mutation(renamePasskey),
  removePasskey: mutation(removePasskey),
  startTotp: plainMutation(startTotp),
  addTotp: mutation(addTotp),
  removeTotp: plainMutation(removeTotp),
  renewRecoveryCodes: plainMutation(renewRecoveryCodes),
  sessions: plainQuery(listOwnSessions),
  endSession: mutation(endOwnSession),
  endOtherSessions: plainMutation(endOtherSessions),
});
