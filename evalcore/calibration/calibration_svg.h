#ifndef EVALCORE_CALIBRATION_CALIBRATION_SVG_H
#define EVALCORE_CALIBRATION_CALIBRATION_SVG_H

#include "evalcore/calibration/calibration.h"

/* The figures of a calibration, appended to *out; the proposed layers are marked (c->n_choose of them). Heat:
 * how well each layer chooses for each one after it. Curve: what is measured of each layer alone, the
 * distance from the layer before (DELTA) or the weight (Kascade). */
void calibration_heat(const struct calibration *c, const int *proposed, struct str *out);
void calibration_curve(const struct calibration *c, const int *proposed, struct str *out);

#endif
