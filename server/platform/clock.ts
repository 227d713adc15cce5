/** The portal's clock. Health is derived only from its time (AZ-H3). */
export type Clock = () => Date;

export const systemClock: Clock = () => new Date();
