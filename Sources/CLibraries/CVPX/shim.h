#pragma once
#include <vpx/vpx_codec.h>
