export { claimInstance, noteDuplicate } from './claim-instance.ts';
export { clearExpiredTokens } from './clear-expired-tokens.ts';
export { credentialsChannel } from './credentials-channel.ts';
export { describeAgent } from './describe-agent.ts';
export { type BindInstance, enrollAgent } from './enroll-agent.ts';
export { type AgentIdentity, credentialHash, findAgents, listAgentNews } from './find-agent.ts';
export { type Enrollment, enrollment, issueEnrollmentToken } from './issue-token.ts';
export { newerAgentVersion, outdatedAgentSql } from './newer-agent.ts';
export { notePlatforms } from './note-platforms.ts';
export { pollAfter, pollSeconds } from './polling.ts';
export { recordRejectedCall } from './record-rejected-call.ts';
export { registerVm, registerVmIn } from './register-vm.ts';
export { deletePresence, removeAgent } from './remove-agent.ts';
export { renewCertificate } from './renew-certificate.ts';
export { describePresence, type Presence, recordReportingAgent, updatePresenceSql } from './report-presence.ts';
export { setInternalAddress } from './set-internal-address.ts';
export {
  describeStockAgent,
  insertStockAgent,
  removeStockAgent,
  replaceStockAgent,
  replaceStockKey,
} from './stock-agent.ts';
export { mergeSighting, type Sighting, writeSightings } from './write-sightings.ts';
