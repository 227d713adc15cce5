/* Words of the topology, which the schema, the rules, inputs and pages share. */

/** The slots of a cloud service. Each holds at most one deployment. */
export const slots = ['production', 'staging'] as const;
export type DeploymentSlot = (typeof slots)[number];

/** The transport protocols of endpoints. */
export const portProtocols = ['tcp', 'udp'] as const;
export type PortProtocol = (typeof portProtocols)[number];

/** States of what a provider creates: cloud services and roles. */
export const resourceStates = ['creating', 'ready', 'deleting'] as const;
export type ResourceState = (typeof resourceStates)[number];

/** Lives of a model. A model that was destroyed has a time of removal. */
export const modelLives = ['alive', 'destroying'] as const;
export type ModelLife = (typeof modelLives)[number];

/** A cloud service with this label holds the controllers of its model, and nothing else. */
export type ServiceLabel = 'controller';
