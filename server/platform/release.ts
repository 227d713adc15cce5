import manifest from '#package.json' with { type: 'json' };

/** Version of this release, which is also the version of the guest agent that it serves. */
export const releaseVersion: string = manifest.version;
