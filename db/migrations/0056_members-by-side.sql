DROP INDEX "relation_units_clock";--> statement-breakpoint
CREATE INDEX "relation_units_clock" ON "relation_units" USING btree ("relation_id","side","clock");