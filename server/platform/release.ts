import manifest from '#package.json' with { type: 'json' };

/** Version of this release and of the guest agent that it serves. */
export const releaseVersion: string = manifest.version;
