export { claimInstance, noteDuplicate } from './claim-instance.ts';
export { enrollAgent } from './enroll-agent.ts';
export { type AgentIdentity, credentialHash, findAgents, listAgentNews } from './find-agent.ts';
export { type EnrollmentToken, issueEnrollmentToken } from './issue-token.ts';
export { pollAfter, pollSeconds } from './polling.ts';
export { PresenceBook } from './presence.ts';
export { registerVm } from './register-vm.ts';
export { credentialsChannel, deleteVm, removeVm } from './remove-vm.ts';
export { renewCertificate } from './renew-certificate.ts';
