import manifest from '#package.json' with { type: 'json' };

export const agentName = 'annex-agent';
export const agentVersion: string = manifest.version;
