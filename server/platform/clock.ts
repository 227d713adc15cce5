/** The portal's clock: the only time that verdicts are derived from (AZ-H3). */
export type Clock = () => Date;

export const systemClock: Clock = () => new Date();
